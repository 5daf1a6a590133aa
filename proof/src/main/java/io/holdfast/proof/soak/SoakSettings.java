package io.holdfast.proof.soak;

import io.holdfast.proof.CommandLine;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;

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

    private static final Set<String> OPTIONS = Set.of("--hours", "--minutes", "--rate", "--flaw", "--folder");
    private static final int MOST_RATE = 2_000;
    private static final int MOST_HOURS = 100;

    /** Returns the share of the time of each back end. */
    Duration timeEach() {
        return time.dividedBy(targets.size());
    }

    static SoakSettings parse(List<String> words) {
        CommandLine line = CommandLine.of(words, OPTIONS);
        if (line.has("--minutes") == line.has("--hours")) {
            throw new IllegalArgumentException("give --minutes or --hours");
        }
        Duration time = Duration.ofHours(line.integer("--hours", 1, MOST_HOURS, 0))
                .plusMinutes(line.integer("--minutes", 1, MOST_HOURS * 60, 0));
        return new SoakSettings(
                line.backEnds(Target.class),
                time,
                line.integer("--rate", 1, MOST_RATE, 0),
                line.choice("--flaw", Flaw.class, Flaw.NONE),
                Path.of(line.text("--folder", "proof/target/soak")).toAbsolutePath());
    }

    SoakRun.Order order(Target target, Path own) {
        return new SoakRun.Order(target, timeEach(), rate == 0 ? target.rate() : rate, flaw, own);
    }
}
