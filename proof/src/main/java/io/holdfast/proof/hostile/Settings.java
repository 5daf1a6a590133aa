package io.holdfast.proof.hostile;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * The parsed command line.
 *
 * @param targets the back ends, one after the other
 * @param time how long faults are injected into each
 * @param seed the seed of the plans
 * @param leaseSeconds the lease duration; 0 for the default of the back end
 * @param processes how many client processes run at a time
 * @param flaw the defect on purpose
 * @param handsOver whether each process hands mutexes over inside itself
 * @param folder the folder for histories and reports
 */
record Settings(
        List<Target> targets,
        Duration time,
        long seed,
        int leaseSeconds,
        int processes,
        Flaw flaw,
        boolean handsOver,
        Path folder) {

    static final String USAGE = """
            usage: hostile redis|sentinel|cluster|redlock|zookeeper|postgresql|all --minutes N [--seed S] [--clients C] [--flaw W] [--hand-over H] [--folder F]
              --minutes N   inject faults into each back end for this time, from 1 to 600
              --seed S      the seed that decides which faults come, when, and where; the current time by default
              --lease L     the lease duration in seconds, from 1 to 60; faults last in proportion. By default 2, and 4 for
                            ZooKeeper and PostgreSQL; take more on a slow or busy machine
              --clients C   how many client processes run at a time, from 1 to 20; 3 by default
              --flaw W      a defect on purpose, to see that the campaign finds it: no_quarantine (Redlock masters that come
                            back empty vote at once), long_belief (clients believe in a lease for three times its duration),
                            no_fence (writers in PostgreSQL do not check the fence) or trusted_grants (clients of one Redis
                            believe grants without a valid signature); none by default
              --hand-over H local makes each client process hand mutexes over inside itself; none by default
              --folder F    the folder for histories and reports; proof/target/hostile by default
            """;

    private static final int MOST_MINUTES = 600;
    private static final int MOST_LEASE_SECONDS = 60;
    private static final int PROCESSES = 3;
    private static final int MOST_PROCESSES = 20;

    Terms terms(Target target) {
        Terms terms = Terms.of(target).with(flaw).handingOver(handsOver);
        return leaseSeconds == 0 ? terms : terms.with(Duration.ofSeconds(leaseSeconds));
    }

    static Settings parse(List<String> arguments, long anySeed) {
        if (arguments.isEmpty() || arguments.size() % 2 == 0) {
            throw new IllegalArgumentException("name a back end, and give each option a value");
        }
        List<Target> targets =
                arguments.get(0).equals("all") ? List.of(Target.values()) : List.of(Target.parse(arguments.get(0)));
        int minutes = 0;
        long seed = anySeed;
        int leaseSeconds = 0;
        int processes = PROCESSES;
        Flaw flaw = Flaw.NONE;
        boolean handsOver = false;
        Path folder = Path.of("proof", "target", "hostile");
        for (int i = 1; i < arguments.size(); i += 2) {
            String value = arguments.get(i + 1);
            switch (arguments.get(i)) {
                case "--minutes" -> minutes = Integer.parseInt(value);
                case "--seed" -> seed = Long.parseLong(value);
                case "--lease" -> leaseSeconds = Integer.parseInt(value);
                case "--clients" -> processes = Integer.parseInt(value);
                case "--flaw" -> flaw = Flaw.parse(value);
                case "--hand-over" -> handsOver = isLocal(value);
                case "--folder" -> folder = Path.of(value);
                default -> throw new IllegalArgumentException("no such option: " + arguments.get(i));
            }
        }
        if (minutes < 1 || minutes > MOST_MINUTES) {
            throw new IllegalArgumentException(
                    "--minutes must be from 1 to %d, was %d".formatted(MOST_MINUTES, minutes));
        }
        if (leaseSeconds < 0 || leaseSeconds > MOST_LEASE_SECONDS) {
            throw new IllegalArgumentException(
                    "--lease must be from 1 to %d, was %d".formatted(MOST_LEASE_SECONDS, leaseSeconds));
        }
        if (processes < 1 || processes > MOST_PROCESSES) {
            throw new IllegalArgumentException(
                    "--clients must be from 1 to %d, was %d".formatted(MOST_PROCESSES, processes));
        }
        return new Settings(
                targets,
                Duration.ofMinutes(minutes),
                seed,
                leaseSeconds,
                processes,
                flaw,
                handsOver,
                folder.toAbsolutePath());
    }

    private static boolean isLocal(String handOver) {
        if (!handOver.equals("local") && !handOver.equals("none")) {
            throw new IllegalArgumentException("--hand-over must be local or none, was " + handOver);
        }
        return handOver.equals("local");
    }
}
