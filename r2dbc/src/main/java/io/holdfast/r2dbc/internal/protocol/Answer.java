package io.holdfast.r2dbc.internal.protocol;

import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A row of an answer: the answer to one operation of a call, or a message for a client.
 *
 * @param number the number of the operation in its call, from 1 on; 0 for a message
 * @param word the word, as in {@code holdfast_answer_v1}
 * @param token the token of a grant, else 0
 * @param millis a duration, whose meaning depends on the word
 * @param attempt which attempt of the claim was granted
 * @param channel the channel of the client that gets the message
 * @param id the claim that the message is about
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
    private static final String NOTIFIED = "notified";
    private static final int WORDS_OF_AN_ANSWER = 4;
    private static final int WORDS_OF_A_PUSH = 7;

    /** Returns an answer without numbers. */
    public static Answer of(int number, String word) {
        return new Answer(number, word, 0, 0, 0, null, null);
    }

    /**
     * Reads a text of lines: {@code number word token millis}, or {@code 0 word token millis attempt channel id} for a message.
     *
     * @throws IllegalStateException if the text has another form
     */
    public static List<Answer> lines(String text) {
        return text.lines().map(Answer::line).toList();
    }

    private static Answer line(String line) {
        String[] words = line.split(" ", WORDS_OF_A_PUSH);
        try {
            int number = Integer.parseInt(words[0]);
            if (words.length == (number == 0 ? WORDS_OF_A_PUSH : WORDS_OF_AN_ANSWER)) {
                return new Answer(
                        number,
                        words[1],
                        Long.parseLong(words[2]),
                        Long.parseLong(words[3]),
                        number == 0 ? Integer.parseInt(words[4]) : 0,
                        number == 0 ? words[5] : null,
                        number == 0 ? words[6] : null);
            }
        } catch (NumberFormatException notANumber) {
            // The same error as for any other unknown line.
        }
        throw new IllegalStateException("unexpected answer '%s' of the database".formatted(line));
    }

    public Answer withNumber(int other) {
        return new Answer(other, word, token, millis, attempt, channel, id);
    }

    /** Whether another call had locked the row. Then nothing was changed. */
    public boolean isBusy() {
        return word.equals(BUSY);
    }

    public boolean isPush() {
        return number == 0;
    }

    /** Whether this says if other clients were notified. */
    public boolean isOfNotifications() {
        return word.endsWith(NOTIFIED);
    }

    public boolean isNotified() {
        return word.equals(NOTIFIED);
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
