package io.holdfast.proof;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The words of a command: first a back end, then options, each with a value. A word that is wrong is named in the message of the {@link
 * IllegalArgumentException}.
 */
public final class CommandLine {

    private static final String ALL = "all";

    private final String backEnd;
    private final Map<String, String> values;

    private CommandLine(String backEnd, Map<String, String> values) {
        this.backEnd = backEnd;
        this.values = values;
    }

    /** Reads the words of a command that has these options. */
    public static CommandLine of(List<String> words, Set<String> options) {
        if (words.isEmpty() || words.get(0).startsWith("-")) {
            throw new IllegalArgumentException("name a back end first");
        }
        Map<String, String> values = new LinkedHashMap<>();
        for (int i = 1; i < words.size(); i += 2) {
            String option = words.get(i);
            if (!options.contains(option)) {
                throw new IllegalArgumentException("no such option: " + option);
            }
            if (i + 1 == words.size()) {
                throw new IllegalArgumentException(option + " has no value");
            }
            if (values.put(option, words.get(i + 1)) != null) {
                throw new IllegalArgumentException(option + " is given twice");
            }
        }
        return new CommandLine(words.get(0), values);
    }

    /** Returns the back end that the command names, or every one if it says "all". */
    public <T extends Enum<T>> List<T> backEnds(Class<T> known) {
        if (backEnd.equals(ALL)) {
            return List.of(known.getEnumConstants());
        }
        return List.of(constant(known, backEnd, "the back end must be one of " + ALL + ", " + words(known)));
    }

    public boolean has(String option) {
        return values.containsKey(option);
    }

    /** Returns the number that follows the option, which must lie within the bounds, or the other number if the option is absent. */
    public long number(String option, long least, long most, long orElse) {
        String value = values.get(option);
        if (value == null) {
            return orElse;
        }
        String rule = "%s must be a whole number from %d to %d, was %s".formatted(option, least, most, value);
        try {
            long number = Long.parseLong(value);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(rule, e);
        }
        throw new IllegalArgumentException(rule);
    }

    /** As {@link #number}, for bounds that are integers. */
    public int integer(String option, int least, int most, int orElse) {
        return Math.toIntExact(number(option, least, most, orElse));
    }

    /** Returns the constant whose name in lower case follows the option, or the other constant if the option is absent. */
    public <T extends Enum<T>> T choice(String option, Class<T> known, T orElse) {
        String value = values.get(option);
        return value == null ? orElse : constant(known, value, option + " must be one of " + words(known));
    }

    /** Returns the word that follows the option, or the other one if the option is absent. */
    public String text(String option, String orElse) {
        return values.getOrDefault(option, orElse);
    }

    private static <T extends Enum<T>> T constant(Class<T> known, String word, String rule) {
        return Arrays.stream(known.getEnumConstants())
                .filter(constant -> word(constant).equals(word))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(rule + "; was " + word));
    }

    private static String words(Class<? extends Enum<?>> known) {
        return Arrays.stream(known.getEnumConstants()).map(CommandLine::word).collect(Collectors.joining(", "));
    }

    private static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
