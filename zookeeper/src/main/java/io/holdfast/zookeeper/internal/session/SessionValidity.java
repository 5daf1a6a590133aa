package io.holdfast.zookeeper.internal.session;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What the answers to a session's requests prove: until when its leader keeps it, even if the network fails after the last answer.
 *
 * <p>The leader ends a session that it has not heard of for the negotiated time-out T. It hears of a follower's sessions in the replies to
 * its pings, twice a tick (LearnerHandler, 3.9.5), and not by the requests that the follower forwards. So what is answered says nothing of
 * itself, but of what came before, since everything between two servers goes one way in order:
 *
 * <ul>
 *   <li>a request is <i>noted</i> at the follower for the next reply to a ping. Within half a tick the leader sends one;
 *   <li>an answer that came from the leader, to a {@code sync} or to a transaction, came behind each ping that the leader had sent before. If
 *       it was asked for {@code 7/24 T} or more after a request was answered, the follower has told of that request by now. Half a tick is no
 *       more than T/4, since a session has two ticks at least; T/24 is for a leader whose pings are not on time;
 *   <li>a transaction that is sent after that answer goes to the leader behind what the follower has told. Once it is acknowledged, the
 *       leader has <i>heard of</i> the request: a majority takes it for the leader, and it counts from no earlier moment than the sending;
 *   <li>a lease ends {@code 23/24 T} after the newest request that was heard of was sent, and 2/3 T after the transaction at the latest.
 *       T/24 is for clocks of different speed;
 *   <li>a connection that is lost breaks that order, but the leader is asked on the next one whether it knows the session, which counts as a
 *       sign of life. So a request that was left without an answer has been heard of, as soon as a transaction is acknowledged later;
 *   <li>of the time before the session was found, it is assumed that the driver sent something each T/3, as it does.
 * </ul>
 *
 * <p>Times are those of one monotonic clock; requests are told of in the order in which they were sent. Not thread-safe.
 */
public class SessionValidity {

    /** Makes one for a session that was connected a moment ago. */
    public interface Factory {

        SessionValidity found(long nowNanos, int timeoutMillis);
    }

    private static final int PARTS = 24;
    private static final int PINGED = 7;
    private static final int BELIEVED = 23;
    private static final int LONGEST = 16;
    private static final int DRIVER_PAUSES = 8;
    private static final int PULSE = 4;

    /** What comes sooner after another is not worth a place of its own. */
    private static final int APART = 48;

    /** Of each kind. More would be older than a whole time-out, and prove nothing. */
    private static final int MOST = 2 * APART;

    private static final long NEVER = Long.MIN_VALUE / 2;

    private record Answer(long sentNanos, long answeredNanos) {}

    /** An answer of the leader's, and the newest request that the follower had told it of by then. */
    private record RoundTrip(long sentNanos, long answeredNanos, long toldNanos) {}

    /** The origin of all other times in here, so that they can be compared. */
    private final long foundNanos;

    /** Those of which the leader may not have been told. */
    private final Deque<Answer> answers = new ArrayDeque<>();

    /** Those that no acknowledged transaction was sent after. */
    private final Deque<RoundTrip> roundTrips = new ArrayDeque<>();

    private long timeoutNanos;
    private long askedNanos;
    private long toldNanos = NEVER;
    private long heardOfNanos = NEVER;
    private long wentThereNanos = NEVER;
    private long agreedNanos;
    private long untilNanos;

    /**
     * A session that was connected a moment ago.
     *
     * @param foundNanos now
     * @param timeoutMillis what was negotiated
     */
    public static SessionValidity found(long foundNanos, int timeoutMillis) {
        return new SessionValidity(foundNanos, timeoutMillis);
    }

    /** For subclasses of the same package: simulations of mistakes. */
    SessionValidity(long foundNanos, int timeoutMillis) {
        this.foundNanos = foundNanos;
        timeoutNanos = nanos(timeoutMillis);
    }

    /**
     * Each connection negotiates anew. The least counts: a new leader may know an earlier one. What was proved for a longer time is not for
     * this one, so the next transaction has to prove it.
     */
    public void negotiated(int timeoutMillis) {
        if (nanos(timeoutMillis) < timeoutNanos) {
            timeoutNanos = nanos(timeoutMillis);
            untilNanos = agreedNanos;
        }
    }

    /** A request is sent that the leader has to answer. */
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

    /** The leader has answered, or a server that was deposed and does not know it. */
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

    /** The connection was lost before the answer came. Each acknowledgement after this comes on a later connection. */
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

    /** Nothing in here tells of the requests before the session was found. */
    private long driverWasHeardOf() {
        return wentThereNanos == NEVER ? NEVER : Math.min(wentThereNanos - parts(PINGED), 0) - parts(DRIVER_PAUSES);
    }

    /** How long the session lasts, counted from the sending of the newest acknowledged transaction; see {@link #isLease}. */
    public Duration lease() {
        return Duration.ofNanos(untilNanos - agreedNanos);
    }

    public boolean isLease() {
        return untilNanos > agreedNanos;
    }

    /** Whether that is enough to begin with: a shorter one would end before a request of now can be in the reply to a ping. */
    public boolean suffices() {
        return untilNanos - agreedNanos >= parts(PINGED);
    }

    /** Whether that is enough to begin with now, without another transaction. */
    public boolean suffices(long nowNanos) {
        return isLease() && validFrom(nowNanos).toNanos() >= parts(PINGED);
    }

    /** Whether a transaction was acknowledged that was sent after that moment. */
    public boolean agreedSince(long nanos) {
        return isLease() && agreedNanos + foundNanos - nanos >= 0;
    }

    /** How long the session lasts, counted from that moment, which may be long ago; negative when it is not known to last until then. */
    public Duration validFrom(long nanos) {
        return Duration.ofNanos(untilNanos + foundNanos - nanos);
    }

    /** How long the leader may not have been asked: the pulse keeps the newest request that it has heard of young. */
    public Duration heartbeat() {
        return Duration.ofNanos(parts(PULSE));
    }

    /** The session time-out that was negotiated. */
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
