package io.holdfast.zookeeper;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What the answers to a session's requests prove: until when its leader keeps it, whatever becomes of the network after the last answer.
 *
 * <p>The leader ends a session that it has not heard of for the negotiated time-out T. It hears of a follower's sessions in the replies to
 * its pings, twice a tick (LearnerHandler, 3.9.5), and not by the transactions that the follower forwards. So an acknowledged transaction
 * says nothing of itself, but of what came before: a request that was answered half a tick before the transaction was sent is in a reply
 * that went to the leader in front of it, and the leader counts from that reply. Hence
 *
 * <ul>
 *   <li>a request counts once it has <i>settled</i>: a transaction that was sent {@code 7/24 T} or more after its answer is acknowledged. Half
 *       a tick is no more than T/4, since a session has two ticks at least; T/24 is for pings that are late;
 *   <li>a lease ends {@code 23/24 T} after the newest settled request was sent, and 2/3 T after the transaction at the latest. T/24 is for
 *       clocks of different speed;
 *   <li>a request that a lost connection left without an answer has settled as soon as a transaction is acknowledged on a later one: for
 *       that the leader was asked whether it knows the session, which counts as a sign of life, after that request was sent;
 *   <li>of the time before the session was found, it is assumed that the driver sent something each T/3, as it does.
 * </ul>
 *
 * <p>Times are those of one monotonic clock; requests are told of in the order in which they were sent. Not thread-safe.
 */
final class SessionProof {

    private static final int PARTS = 24;
    private static final int SETTLES = 7;
    private static final int BELIEVED = 23;
    private static final int LONGEST = 16;
    private static final int DRIVER_PAUSES = 8;
    private static final int PULSE = 4;

    /** Answers that come sooner after another are not worth a place of their own. */
    private static final int APART = 48;

    private static final long NEVER = Long.MIN_VALUE / 2;

    private record Answer(long sentNanos, long answeredNanos) {}

    /** The origin of all other times in here, so that they can be compared. */
    private final long foundNanos;

    /** Those that have not settled yet. */
    private final Deque<Answer> answers = new ArrayDeque<>();

    private long timeoutNanos;
    private long settledNanos = NEVER;
    private long sentNanos;
    private long agreedNanos;
    private long untilNanos;

    /**
     * A session that was connected a moment ago.
     *
     * @param foundNanos now
     * @param timeoutMillis what was negotiated
     */
    SessionProof(long foundNanos, int timeoutMillis) {
        this.foundNanos = foundNanos;
        timeoutNanos = nanos(timeoutMillis);
    }

    /**
     * Each connection negotiates anew. The least counts: a new leader may know an earlier one. What was proved for a longer time is not for
     * this one, so the next transaction has to prove it.
     */
    void negotiated(int timeoutMillis) {
        if (nanos(timeoutMillis) < timeoutNanos) {
            timeoutNanos = nanos(timeoutMillis);
            untilNanos = agreedNanos;
        }
    }

    void sends(long nowNanos) {
        sentNanos = nowNanos - foundNanos;
    }

    /** A server has answered a request, whatever it was. */
    void answered(long requestSentNanos, long nowNanos) {
        long sent = requestSentNanos - foundNanos;
        long now = nowNanos - foundNanos;
        settleBefore(sent);
        Answer last = answers.peekLast();
        if (last == null || now - last.answeredNanos() >= timeoutNanos / APART) {
            answers.addLast(new Answer(sent, now));
        }
    }

    /** The connection was lost before the answer came: whatever is acknowledged after this is so on a later one. */
    void lost(long requestSentNanos) {
        settledNanos = Math.max(settledNanos, requestSentNanos - foundNanos);
    }

    /** A majority has acknowledged a transaction of the session. */
    void agreed(long requestSentNanos, long nowNanos) {
        answered(requestSentNanos, nowNanos);
        agreedNanos = requestSentNanos - foundNanos;
        long assumed = Math.min(agreedNanos - parts(SETTLES), 0) - parts(DRIVER_PAUSES);
        untilNanos = Math.min(agreedNanos + parts(LONGEST), Math.max(settledNanos, assumed) + parts(BELIEVED));
    }

    /** How long the session lasts, counted from the sending of the newest acknowledged transaction; see {@link #isLease}. */
    Duration lease() {
        return Duration.ofNanos(untilNanos - agreedNanos);
    }

    boolean isLease() {
        return untilNanos > agreedNanos;
    }

    /** Whether that is enough to begin with: a shorter one would end before a request of now can have settled. */
    boolean suffices() {
        return untilNanos - agreedNanos >= parts(SETTLES);
    }

    /** How long nothing may have been sent: the pulse keeps the newest settled request young. */
    Duration pulse() {
        return Duration.ofNanos(parts(PULSE));
    }

    int waitingToSettle() {
        return answers.size();
    }

    Duration sinceLastSent(long nowNanos) {
        return Duration.ofNanos(nowNanos - foundNanos - sentNanos);
    }

    private void settleBefore(long sent) {
        Answer oldest = answers.peekFirst();
        while (oldest != null && oldest.answeredNanos() <= sent - parts(SETTLES)) {
            settledNanos = Math.max(settledNanos, oldest.sentNanos());
            answers.removeFirst();
            oldest = answers.peekFirst();
        }
    }

    private long parts(int count) {
        return timeoutNanos / PARTS * count;
    }

    private static long nanos(int millis) {
        return millis * 1_000_000L;
    }
}
