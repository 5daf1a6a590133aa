package io.holdfast.proof.hostile;

import io.holdfast.proof.CommandLine;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;

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
            usage: hostile redis|sentinel|cluster|redlock|zookeeper|etcd|postgresql|all --minutes N [--seed S] [--clients C] [--flaw W] [--hand-over H] [--folder F]
              --minutes N   inject faults into each back end for this time, from 1 to 600
              --seed S      the seed that decides which faults come, when, and where; the current time by default
              --lease L     the lease duration in seconds, from 1 to 60; faults last in proportion. By default 2, and 4 for
                            ZooKeeper, etcd and PostgreSQL; take more on a slow or busy machine
              --clients C   how many client processes run at a time, from 1 to 20; 3 by default
              --flaw W      a defect on purpose, to see that the campaign finds it: no_quarantine (Redlock masters that come
                            back empty vote at once), long_belief (clients believe in a lease for three times its duration),
                            no_fence (writers in PostgreSQL do not check the fence) or trusted_grants (clients of one Redis
                            believe grants without a valid signature); none by default
              --hand-over H local makes each client process hand mutexes over inside itself; none by default
              --folder F    the folder for histories and reports; proof/target/hostile by default
            """;

    private static final Set<String> OPTIONS =
            Set.of("--minutes", "--seed", "--lease", "--clients", "--flaw", "--hand-over", "--folder");
    private static final int MOST_MINUTES = 600;
    private static final int MOST_LEASE_SECONDS = 60;
    private static final int PROCESSES = 3;
    private static final int MOST_PROCESSES = 20;

    Terms terms(Target target) {
        Terms terms = Terms.of(target).with(flaw).handingOver(handsOver);
        return leaseSeconds == 0 ? terms : terms.with(Duration.ofSeconds(leaseSeconds));
    }

    static Settings parse(List<String> words, long anySeed) {
        CommandLine line = CommandLine.of(words, OPTIONS);
        if (!line.has("--minutes")) {
            throw new IllegalArgumentException("give --minutes");
        }
        return new Settings(
                line.backEnds(Target.class),
                Duration.ofMinutes(line.integer("--minutes", 1, MOST_MINUTES, 0)),
                line.number("--seed", Long.MIN_VALUE, Long.MAX_VALUE, anySeed),
                line.integer("--lease", 1, MOST_LEASE_SECONDS, 0),
                line.integer("--clients", 1, MOST_PROCESSES, PROCESSES),
                line.choice("--flaw", Flaw.class, Flaw.NONE),
                line.choice("--hand-over", HandOver.class, HandOver.NONE) == HandOver.LOCAL,
                Path.of(line.text("--folder", "proof/target/hostile")).toAbsolutePath());
    }

    /** The values of the option {@code --hand-over}. */
    private enum HandOver {
        NONE,
        LOCAL
    }
}
