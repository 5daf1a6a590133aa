package io.holdfast.proof.soak;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * The parsed command line.
 *
 * @param targets the back ends, one after the other
 * @param time the time for all back ends together
 * @param rate cycles per second; 0 for the default of the back end
 * @param flaw the leak on purpose
 * @param folder the folder for samples and reports
 */
record SoakSettings(List<Target> targets, Duration time, int rate, Flaw flaw, Path folder) {

    static final String USAGE = """
            usage: soak redis|redlock|cluster|zookeeper|postgresql|all --hours N|--minutes N [--rate R] [--flaw W] [--folder F]
              --hours N     how long the soak lasts, from 1 to 100; all back ends share the time
              --minutes N   the same in minutes, from 1 to 6000
              --rate R      cycles per second, from 1 to 2000; 300 by default, and 100 for a Redlock, whose cycles use five servers
              --flaw W      a leak on purpose in the client process, once in a thousand cycles, to see that the soak finds it:
                            leak_listener (100 bytes) or leak_connection; none by default
              --folder F    the folder for samples and reports; proof/target/soak by default
            """;

    private static final int MOST_RATE = 2_000;
    private static final Duration LONGEST = Duration.ofHours(100);

    /** Returns the share of the time of each back end. */
    Duration timeEach() {
        return time.dividedBy(targets.size());
    }

    static SoakSettings parse(List<String> arguments) {
        if (arguments.isEmpty() || arguments.size() % 2 == 0) {
            throw new IllegalArgumentException("name a back end, and give each option a value");
        }
        List<Target> targets =
                arguments.get(0).equals("all") ? List.of(Target.values()) : List.of(Target.parse(arguments.get(0)));
        Duration time = Duration.ZERO;
        int rate = 0;
        Flaw flaw = Flaw.NONE;
        Path folder = Path.of("proof", "target", "soak");
        for (int i = 1; i < arguments.size(); i += 2) {
            String value = arguments.get(i + 1);
            switch (arguments.get(i)) {
                case "--hours" -> time = Duration.ofHours(Integer.parseInt(value));
                case "--minutes" -> time = Duration.ofMinutes(Integer.parseInt(value));
                case "--rate" -> rate = rate(value);
                case "--flaw" -> flaw = Flaw.parse(value);
                case "--folder" -> folder = Path.of(value);
                default -> throw new IllegalArgumentException("no such option: " + arguments.get(i));
            }
        }
        if (time.compareTo(Duration.ofMinutes(1)) < 0 || time.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "give --minutes or --hours, up to %d hours".formatted(LONGEST.toHours()));
        }
        return new SoakSettings(targets, time, rate, flaw, folder.toAbsolutePath());
    }

    private static int rate(String value) {
        int rate = Integer.parseInt(value);
        if (rate < 1 || rate > MOST_RATE) {
            throw new IllegalArgumentException("--rate must be from 1 to %d, was %d".formatted(MOST_RATE, rate));
        }
        return rate;
    }

    SoakRun.Order order(Target target, Path own) {
        return new SoakRun.Order(target, timeEach(), rate == 0 ? target.rate() : rate, flaw, own);
    }
}
