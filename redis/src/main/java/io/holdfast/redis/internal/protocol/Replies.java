package io.holdfast.redis.internal.protocol;

import io.holdfast.redis.internal.script.ScriptReply;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockRun;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.List;
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
    private static final int RUN = 5;

    private Replies() {}

    /**
     * Reads the answer to an attempt.
     *
     * @param leaseMillis the requested lease
     * @throws IllegalStateException if the scripts give no such answer
     */
    static LockAttempt attempt(ScriptReply answer, long leaseMillis) {
        long[] reply = answer.numbers();
        String members = answer.text();
        if (members != null) {
            if (reply.length == 3 && reply[0] == RUN && isToken(reply[1]) && reply[2] > 0) {
                return new LockAttempt.AcquiredRun(
                        run(reply[1], members), Duration.ofMillis(Math.min(reply[2], leaseMillis)));
            }
            throw unexpected(reply);
        }
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

    /**
     * Reads a grant to a waiter, or to a run; null for one that no sound server sends.
     *
     * @param index of the member that gets the signal, from 1 on
     * @param ids of the claims, separated by line feeds
     */
    static @Nullable ChannelMessage granted(
            LockKeys keys, long token, long attempt, long validMillis, long index, String ids) {
        List<String> members = List.of(ids.split("\n"));
        boolean isSound = isToken(token)
                && attempt > 0
                && attempt <= Integer.MAX_VALUE
                && validMillis > 0
                && validMillis < TOKEN_LIMIT / 1_000_000
                && index > 0
                && index <= members.size()
                && !ids.isEmpty();
        if (!isSound) {
            return null;
        }
        Duration valid = Duration.ofMillis(validMillis);
        WatchSignal signal = members.size() == 1
                ? new WatchSignal.Granted(token, (int) attempt, valid)
                : new WatchSignal.GrantedRun(new LockRun(token, members), (int) attempt, valid);
        return new ChannelMessage(List.of(members.get((int) index - 1)), signal, keys);
    }

    /** Reads the grant in the answer to what ended a hold; null without one. */
    static @Nullable ChannelMessage grantIn(ScriptReply answer, LockKeys keys) {
        long[] reply = answer.numbers();
        String ids = answer.text();
        return ids == null || reply.length != 5 ? null : granted(keys, reply[1], reply[2], reply[3], reply[4], ids);
    }

    /** Whether a request has ended a hold. */
    static boolean hasEnded(ScriptReply answer) {
        long[] reply = answer.numbers();
        boolean hasGrant = reply.length == 5 && answer.text() != null;
        return yesOrNo(hasGrant ? new long[] {reply[0]} : reply, 1)[0];
    }

    static LockRun run(long number, String ids) {
        return new LockRun(number, List.of(ids.split("\n")));
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
