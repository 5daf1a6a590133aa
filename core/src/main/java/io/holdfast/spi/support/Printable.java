package io.holdfast.spi.support;

import java.time.Duration;
import java.util.stream.Collectors;

/**
 * Makes text from outside fit for one line of a message or of a log: a lock name, an error of a server. A name may
 * contain any characters, so a raw name could forge lines of a log or send commands to a terminal.
 *
 * <p>{@link io.holdfast.LockException} calls it for its own messages. Code that writes log lines and other exceptions
 * calls it.
 */
public final class Printable {

    private static final char ELLIPSIS = '\u2026';

    private Printable() {}

    /**
     * Escapes characters that do not print: control and format characters (also those that change the direction of
     * text), line and paragraph separators, and unpaired surrogates. A line feed becomes {@code \n}, an escape
     * {@code \u001b}.
     *
     * @param raw any text
     * @return one printable line; the same object when there is nothing to escape
     */
    public static String text(String raw) {
        return raw.codePoints().allMatch(Printable::prints)
                ? raw
                : raw.codePoints().mapToObj(Printable::printable).collect(Collectors.joining());
    }

    /**
     * Returns the escaped beginning of a text that may be very long.
     *
     * @param raw any text
     * @param mostChars the longest beginning in chars; a surrogate pair is never cut in two
     * @return the text; with an ellipsis at its end when it was cut
     */
    public static String start(String raw, int mostChars) {
        if (raw.length() <= mostChars) {
            return text(raw);
        }
        boolean cutsPair = mostChars > 0
                && Character.isHighSurrogate(raw.charAt(mostChars - 1))
                && Character.isLowSurrogate(raw.charAt(mostChars));
        return text(raw.substring(0, cutsPair ? mostChars - 1 : mostChars)) + ELLIPSIS;
    }

    /**
     * Formats a duration for operators: {@code 750 ms}, {@code 29.8 s}, {@code 4 min 10 s}, {@code 2 h 5 min}.
     *
     * @param duration not negative
     * @return at most two units
     */
    public static String duration(Duration duration) {
        long millis = duration.toMillis();
        long seconds = millis / 1_000;
        if (millis < 1_000) {
            return millis + " ms";
        } else if (seconds < 60) {
            return seconds + (millis % 1_000 / 100 == 0 ? "" : "." + millis % 1_000 / 100) + " s";
        } else if (seconds < 3_600) {
            return parts(seconds / 60, "min", seconds % 60, "s");
        } else if (seconds < 86_400) {
            return parts(seconds / 3_600, "h", seconds / 60 % 60, "min");
        }
        return parts(seconds / 86_400, "d", seconds / 3_600 % 24, "h");
    }

    private static String parts(long large, String unit, long small, String smallUnit) {
        return large + " " + unit + (small == 0 ? "" : " " + small + " " + smallUnit);
    }

    private static boolean prints(int codePoint) {
        if (codePoint >= ' ' && codePoint < 0x7f) {
            return true;
        }
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SURROGATE -> false;
            default -> true;
        };
    }

    private static String printable(int codePoint) {
        if (prints(codePoint)) {
            return Character.toString(codePoint);
        }
        return switch (codePoint) {
            case '\n' -> "\\n";
            case '\r' -> "\\r";
            case '\t' -> "\\t";
            default -> codePoint > 0xffff ? "\\x{%x}".formatted(codePoint) : "\\u%04x".formatted(codePoint);
        };
    }
}
