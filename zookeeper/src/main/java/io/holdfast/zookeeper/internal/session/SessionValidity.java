package io.holdfast.zookeeper.internal.session;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Computes from the answers to a session's requests until when the leader keeps the session, even if the network fails after the last
 * answer.
 *
 * <p>The leader ends a session if it received no sign of life of it for the negotiated time-out T. Followers report their sessions in the
 * replies to the leader's pings, twice a tick (LearnerHandler, 3.9.5). The requests that a follower forwards do not count. So an answer
 * proves nothing about its own request, but it does about earlier ones, since messages between two servers arrive in order:
 *
 * <ul>
 * <li>the follower <i>notes</i> a request for its next reply to a ping. The leader sends the next ping within half a tick;
 * <li>an answer from the leader, to a {@code sync} or to a transaction, arrives after each ping that the leader had sent before. If its
 * request was sent {@code 7/24 T} or more after the answer to an earlier request, the follower has reported that earlier request by now.
 * Half a tick is at most T/4, since a session has at least two ticks; T/24 is for a leader whose pings are late;
 * <li>a transaction that is sent after that answer reaches the leader after the follower's report. Once it is acknowledged, the leader has
 * <i>heard of</i> the request: a majority confirms it as the leader, and it counts from no earlier moment than the sending;
 * <li>a lease ends {@code 23/24 T} after the sending of the newest request that was heard of, and at the latest 2/3 T after the
 * transaction. T/24 is for clocks of different speed;
 * <li>a lost connection breaks that order. But on the next connection, the server checks the session with the leader, which counts as a
 * sign of life. So a request without an answer counts as heard of, as soon as a later transaction is acknowledged;
 * <li>for the time before the session was found, this class assumes that the server got something from the driver each T/3, as it does
 * unless the network stood still. A proof would take 7/24 T more, at the first lock of each session.
 * </ul>
 *
 * <p>All times are from one monotonic clock. Requests must be reported in the order in which they were sent. Not thread-safe.
 */
public class SessionValidity {

    /** Creates the validity of a session that was connected a moment ago. */
    public interface Factory {

        SessionValidity found(long nowNanos, int timeoutMillis);
    }

    private static final int PARTS = 24;
    private static final int PINGED = 7;
    private static final int BELIEVED = 23;
    private static final int LONGEST = 16;
    private static final int DRIVER_PAUSES = 8;
    private static final int PULSE = 4;

    /** An answer that follows another one within 1/48 of the time-out is not kept. */
    private static final int APART = 48;

    /** The most that are kept of each kind. More would be older than a whole time-out, and prove nothing. */
    private static final int MOST = 2 * APART;

    private static final long NEVER = Long.MIN_VALUE / 2;

    private record Answer(long sentNanos, long answeredNanos) {}

    /** An answer of the leader, and the newest request that the follower had reported by then. */
    private record RoundTrip(long sentNanos, long answeredNanos, long toldNanos) {}

    /** The origin of all other times in this class, so that they can be compared. */
    private final long foundNanos;

    /** Answers to requests that the follower may not have reported to the leader yet. */
    private final Deque<Answer> answers = new ArrayDeque<>();

    /** Answers of the leader after which no acknowledged transaction was sent yet. */
    private final Deque<RoundTrip> roundTrips = new ArrayDeque<>();

    private long timeoutNanos;
    private long askedNanos;
    private long toldNanos = NEVER;
    private long heardOfNanos = NEVER;
    private long wentThereNanos = NEVER;
    private long agreedNanos;
    private long untilNanos;

    /**
     * Returns the validity of a session that was connected a moment ago.
     *
     * @param foundNanos the time now
     * @param timeoutMillis the negotiated time-out
     */
    public static SessionValidity found(long foundNanos, int timeoutMillis) {
        return new SessionValidity(foundNanos, timeoutMillis);
    }

    /** For subclasses in the same package: simulations of mistakes. */
    SessionValidity(long foundNanos, int timeoutMillis) {
        this.foundNanos = foundNanos;
        timeoutNanos = nanos(timeoutMillis);
    }

    /**
     * A connection has negotiated the time-out again. The smallest one counts, since a new leader may know an earlier one. A proof for a
     * longer time-out is not valid for a shorter one, so the next transaction must prove the session again.
     */
    public void negotiated(int timeoutMillis) {
        if (nanos(timeoutMillis) < timeoutNanos) {
            timeoutNanos = nanos(timeoutMillis);
            untilNanos = agreedNanos;
        }
    }

    /** The client sends a request that the leader must answer. */
    public void asksTheLeader(long nowNanos) {
        askedNanos = nowNanos - foundNanos;
    }

    /** A server has answered a request of any kind. */
    public void answered(long requestSentNanos, long nowNanos) {
        long now = nowNanos - foundNanos;
        Answer last = answers.peekLast();
        if (last == null || now - last.answeredNanos() >= timeoutNanos / APART) {
            add(answers, new Answer(requestSentNanos - foundNanos, now));
        }
    }

    /** The leader has answered, or a server that does not know yet that it is not the leader any more. */
    public void leaderAnswered(long requestSentNanos, long nowNanos) {
        long sent = requestSentNanos - foundNanos;
        Answer oldest = answers.peekFirst();
        while (oldest != null && oldest.answeredNanos() <= sent - parts(PINGED)) {
            toldNanos = Math.max(toldNanos, oldest.sentNanos());
            answers.removeFirst();
            oldest = answers.peekFirst();
        }
        RoundTrip last = roundTrips.peekLast();
        if (last == null || toldNanos > last.toldNanos() || sent - last.sentNanos() >= timeoutNanos / APART) {
            add(roundTrips, new RoundTrip(sent, nowNanos - foundNanos, toldNanos));
        }
        answered(requestSentNanos, nowNanos);
    }

    private static <T> void add(Deque<T> to, T newest) {
        to.addLast(newest);
        if (to.size() > MOST) {
            to.removeFirst();
        }
    }

    /** The connection was lost before the answer came. Each later acknowledgement comes on a later connection. */
    public void lost(long requestSentNanos) {
        heardOfNanos = Math.max(heardOfNanos, requestSentNanos - foundNanos);
    }

    /** A majority has acknowledged a transaction of the session. */
    public void agreed(long requestSentNanos, long nowNanos) {
        agreedNanos = requestSentNanos - foundNanos;
        RoundTrip oldest = roundTrips.peekFirst();
        while (oldest != null && oldest.answeredNanos() <= agreedNanos) {
            wentThereNanos = oldest.sentNanos();
            heardOfNanos = Math.max(heardOfNanos, oldest.toldNanos());
            roundTrips.removeFirst();
            oldest = roundTrips.peekFirst();
        }
        untilNanos =
                Math.min(agreedNanos + parts(LONGEST), Math.max(heardOfNanos, driverWasHeardOf()) + parts(BELIEVED));
        leaderAnswered(requestSentNanos, nowNanos);
    }

    /** The time of the driver's last request before the session was found. This class did not see those requests. */
    private long driverWasHeardOf() {
        return wentThereNanos == NEVER ? NEVER : Math.min(wentThereNanos - parts(PINGED), 0) - parts(DRIVER_PAUSES);
    }

    /** Returns how long the session lasts, counted from the sending of the newest acknowledged transaction; see {@link #isLease}. */
    public Duration lease() {
        return Duration.ofNanos(untilNanos - agreedNanos);
    }

    public boolean isLease() {
        return untilNanos > agreedNanos;
    }

    /** Whether the lease is long enough for a start. A shorter one would end before a reply to a ping can report a request that is sent now. */
    public boolean suffices() {
        return untilNanos - agreedNanos >= parts(PINGED);
    }

    /** Whether the rest of the lease is long enough for a start now, without another transaction. */
    public boolean suffices(long nowNanos) {
        return isLease() && validFrom(nowNanos).toNanos() >= parts(PINGED);
    }

    /** Whether a transaction that was sent after that moment was acknowledged. */
    public boolean agreedSince(long nanos) {
        return isLease() && agreedNanos + foundNanos - nanos >= 0;
    }

    /** Returns how long the session lasts, counted from that moment, which may be long ago; negative if it is not known to last until then. */
    public Duration validFrom(long nanos) {
        return Duration.ofNanos(untilNanos + foundNanos - nanos);
    }

    /** Returns the longest time without a request to the leader. The heartbeat keeps the newest request that the leader has heard of recent. */
    public Duration heartbeat() {
        return Duration.ofNanos(parts(PULSE));
    }

    /** Returns the negotiated session time-out. */
    public Duration timeout() {
        return Duration.ofNanos(timeoutNanos);
    }

    int remembered() {
        return answers.size() + roundTrips.size();
    }

    public Duration sinceLeaderWasAsked(long nowNanos) {
        return Duration.ofNanos(nowNanos - foundNanos - askedNanos);
    }

    private long parts(int count) {
        return timeoutNanos / PARTS * count;
    }

    private static long nanos(int millis) {
        return millis * 1_000_000L;
    }
}
