package io.holdfast.r2dbc.internal.protocol;

import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A row of an answer: to one operation of a call, or what a client is to be told.
 *
 * @param number of the operation in its call, from 1 on; 0 for what a client is to be told
 * @param word as in {@code holdfast_answer_v1}
 * @param token of a grant, else 0
 * @param millis a duration, by the word
 * @param attempt which attempt of the claim was granted
 * @param channel of the client that is to be told
 * @param id the claim of which it is told
 */
public record Answer(
        int number,
        String word,
        long token,
        long millis,
        int attempt,
        @Nullable String channel,
        @Nullable String id) {

    private static final String BUSY = "busy";

    /** An answer to an operation that gives no number. */
    public static Answer of(int number, String word) {
        return new Answer(number, word, 0, 0, 0, null, null);
    }

    /** Whether another call had locked the row. Nothing was done. */
    public boolean isBusy() {
        return word.equals(BUSY);
    }

    public boolean isPush() {
        return number == 0;
    }

    public LockAttempt attemptAnswer() {
        return switch (word) {
            case "acquired" -> new LockAttempt.Acquired(token, Duration.ofMillis(millis));
            case "queued" -> new LockAttempt.Queued(Duration.ofMillis(millis));
            case "contended" -> new LockAttempt.Contended(Duration.ofMillis(millis));
            default -> throw unexpected();
        };
    }

    public Ownership ownership() {
        return isHeld() ? Ownership.HELD : Ownership.NOT_HELD;
    }

    public Renewal renewal(Duration lease) {
        return isHeld() ? new Renewal.Held(lease) : new Renewal.NotHeld();
    }

    private boolean isHeld() {
        return switch (word) {
            case "held" -> true;
            case "not_held" -> false;
            default -> throw unexpected();
        };
    }

    private IllegalStateException unexpected() {
        return new IllegalStateException("unexpected answer '%s' of the database".formatted(word));
    }
}
