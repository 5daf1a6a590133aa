package io.holdfast.r2dbc.internal.protocol;

import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A message for one claim.
 *
 * @param claimId the claim
 * @param signal the signal; null if the claim is at the head of the queue now, and must send an attempt within a claim time
 */
public record Push(String claimId, @Nullable WatchSignal signal) {

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

    /** Reads a notification. A text that the functions have not written has no messages: any user of the database may notify. */
    public static List<Push> read(String text) {
        try {
            return Answer.lines(text).stream().map(Push::of).toList();
        } catch (IllegalStateException notOurs) {
            return List.of();
        }
    }
}
