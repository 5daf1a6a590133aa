package io.holdfast.r2dbc.internal.protocol;

import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message for one claim, and its form in a notification.
 *
 * @param claimId the claim
 * @param signal the signal; null if the claim is at the head of the queue now, and must send an attempt within a claim time
 */
public record Push(String claimId, @Nullable WatchSignal signal) {

    /** PostgreSQL accepts less than 8 000 bytes. All characters in these messages take one byte. */
    private static final int MOST_CHARS = 7_000;

    private static final String SEPARATOR = "\n";

    /** Reads the message in an answer. */
    public static Push of(Answer answer) {
        String id = answer.id();
        if (id == null) {
            throw new IllegalStateException("the answer is for no claim");
        }
        return switch (answer.word()) {
            case "granted" ->
                new Push(
                        id,
                        new WatchSignal.Granted(answer.token(), answer.attempt(), Duration.ofMillis(answer.millis())));
            case "changed" -> new Push(id, new WatchSignal.Changed());
            case "head" -> new Push(id, null);
            default -> throw new IllegalStateException("unexpected message '%s'".formatted(answer.word()));
        };
    }

    private static String text(Answer answer) {
        return switch (answer.word()) {
            case "granted" -> "G %d %d %d %s".formatted(answer.token(), answer.attempt(), answer.millis(), answer.id());
            case "changed" -> "C " + answer.id();
            default -> "H " + answer.id();
        };
    }

    /** A notification. */
    public record Message(String channel, String text) {}

    /** Packs the messages into as few notifications as possible. */
    public static List<Message> messages(List<Answer> pushes) {
        Map<String, StringBuilder> open = new LinkedHashMap<>();
        List<Message> full = new ArrayList<>();
        for (Answer push : pushes) {
            String channel = String.valueOf(push.channel());
            String line = text(push);
            StringBuilder text = open.computeIfAbsent(channel, it -> new StringBuilder());
            if (text.length() + line.length() >= MOST_CHARS) {
                full.add(new Message(channel, text.toString()));
                text.setLength(0);
            }
            text.append(text.isEmpty() ? "" : SEPARATOR).append(line);
        }
        open.forEach((channel, text) -> full.add(new Message(channel, text.toString())));
        return full;
    }

    /** Reads a notification. Leaves out lines that this library has not written: any user of the database may notify. */
    public static List<Push> read(String text) {
        List<Push> pushes = new ArrayList<>();
        for (String line : text.split(SEPARATOR, -1)) {
            Push push = readLine(line.split(" ", -1));
            if (push != null) {
                pushes.add(push);
            }
        }
        return pushes;
    }

    private static @Nullable Push readLine(String[] parts) {
        if (parts.length == 2 && parts[0].equals("C")) {
            return new Push(parts[1], new WatchSignal.Changed());
        }
        if (parts.length == 2 && parts[0].equals("H")) {
            return new Push(parts[1], null);
        }
        if (parts.length == 5 && parts[0].equals("G")) {
            try {
                long token = Long.parseLong(parts[1]);
                int attempt = Integer.parseInt(parts[2]);
                Duration lease = Duration.ofMillis(Long.parseLong(parts[3]));
                return new Push(parts[4], new WatchSignal.Granted(token, attempt, lease));
            } catch (NumberFormatException notOurs) {
                return null;
            }
        }
        return null;
    }
}
