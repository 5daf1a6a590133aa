package io.holdfast.redis.internal.protocol;

import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Reads the numbers of a server's reply, and refuses those that no sound server sends. If a time in a reply is longer
 * than the requested one, it becomes the requested one.
 */
final class Replies {

    /** From here on, Lua's numbers lose digits. */
    private static final long TOKEN_LIMIT = 1L << 53;

    private static final int ACQUIRED = 1;
    private static final int QUEUED = 2;
    private static final int CONTENDED = 3;

    private Replies() {}

    /**
     * Reads the answer to an attempt.
     *
     * @param leaseMillis the requested lease
     * @throws IllegalStateException if the scripts give no such answer
     */
    static LockAttempt attempt(long[] reply, long leaseMillis) {
        if (reply.length == 1 && isToken(reply[0])) {
            return new LockAttempt.Acquired(reply[0], Duration.ofMillis(leaseMillis));
        }
        if (reply.length == 3 && reply[0] == ACQUIRED && isToken(reply[1]) && reply[2] > 0) {
            return new LockAttempt.Acquired(reply[1], Duration.ofMillis(Math.min(reply[2], leaseMillis)));
        }
        if (reply.length == 2 && reply[1] > 0) {
            Duration nextAttemptWithin = Duration.ofMillis(Math.min(reply[1], leaseMillis));
            if (reply[0] == QUEUED) {
                return new LockAttempt.Queued(nextAttemptWithin);
            } else if (reply[0] == CONTENDED) {
                return new LockAttempt.Contended(nextAttemptWithin);
            }
        }
        throw unexpected(reply);
    }

    /** Reads a pushed grant; null for one that no sound server sends. */
    static WatchSignal.@Nullable Granted granted(long token, int attempt, long validMillis) {
        boolean isSound = isToken(token) && attempt > 0 && validMillis > 0 && validMillis < TOKEN_LIMIT / 1_000_000;
        return isSound ? new WatchSignal.Granted(token, attempt, Duration.ofMillis(validMillis)) : null;
    }

    /**
     * Reads a reply of as many numbers, each 0 or 1.
     *
     * @throws IllegalStateException if there are other numbers, or not as many
     */
    static boolean[] yesOrNo(long[] reply, int count) {
        boolean[] answers = new boolean[count];
        for (int i = 0; i < count; i++) {
            if (reply.length != count || (reply[i] != 0 && reply[i] != 1)) {
                throw unexpected(reply);
            }
            answers[i] = reply[i] == 1;
        }
        return answers;
    }

    private static boolean isToken(long number) {
        return number > 0 && number < TOKEN_LIMIT;
    }

    private static IllegalStateException unexpected(long[] reply) {
        String more = reply.length == 0 ? "or of too many" : "the first is " + reply[0];
        return new IllegalStateException("unexpected reply of %d numbers, %s".formatted(reply.length, more));
    }
}
