package io.holdfast.proof.hostile;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * The command line.
 *
 * @param targets which back ends, one after the other
 * @param time how long faults are injected into each
 * @param seed what the plans come from
 * @param folder where histories and reports go
 */
record Settings(List<Target> targets, Duration time, long seed, Path folder) {

    static final String USAGE = """
            usage: hostile redis|sentinel|redlock|zookeeper|all --minutes N [--seed S] [--folder F]
              --minutes N   how long faults are injected into each back end, from 1 to 600
              --seed S      which faults, when, and where; the current time by default
              --folder F    where histories and reports go; proof/target/hostile by default
            """;

    private static final int MOST_MINUTES = 600;

    static Settings parse(List<String> arguments, long anySeed) {
        if (arguments.isEmpty() || arguments.size() % 2 == 0) {
            throw new IllegalArgumentException("a back end is needed, and each option needs a value");
        }
        List<Target> targets =
                arguments.get(0).equals("all") ? List.of(Target.values()) : List.of(Target.parse(arguments.get(0)));
        int minutes = 0;
        long seed = anySeed;
        Path folder = Path.of("proof", "target", "hostile");
        for (int i = 1; i < arguments.size(); i += 2) {
            String value = arguments.get(i + 1);
            switch (arguments.get(i)) {
                case "--minutes" -> minutes = Integer.parseInt(value);
                case "--seed" -> seed = Long.parseLong(value);
                case "--folder" -> folder = Path.of(value);
                default -> throw new IllegalArgumentException("no such option: " + arguments.get(i));
            }
        }
        if (minutes < 1 || minutes > MOST_MINUTES) {
            throw new IllegalArgumentException(
                    "--minutes must be from 1 to %d, was %d".formatted(MOST_MINUTES, minutes));
        }
        return new Settings(targets, Duration.ofMinutes(minutes), seed, folder.toAbsolutePath());
    }
}
