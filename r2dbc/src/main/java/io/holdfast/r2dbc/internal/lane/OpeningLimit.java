package io.holdfast.r2dbc.internal.lane;

import java.time.Duration;

/**
 * How long opening a connection may take, and when one may begin. The first connection of a process also loads the driver, which takes
 * seconds on a busy machine. Later ones have the time of a reply, so that a server that has moved is found soon. But after each one that
 * takes too long, the next has twice the time. So a server that opens connections slowly can be reached at last.
 *
 * <p>No driver ends a handshake that the server never answers: it keeps a socket. When several hang, one more may begin each minute, so that a
 * server that answers again is found. Immutable.
 *
 * @param shortest the time limit of a reply
 * @param hanging how many have taken too long, and are neither open nor refused, since one was opened
 * @param successes how many were opened in time; after the next one, those that hang count no longer
 * @param lastNanos when the last one began
 */
record OpeningLimit(Duration limit, Duration shortest, int hanging, int successes, long lastNanos) {

    static final int MOST_HANGING = 16;

    static final Duration PAUSE = Duration.ofMinutes(1);

    private static final Duration LONGEST = Duration.ofSeconds(10);

    /** Returns the limit of the first connection. */
    static OpeningLimit first(Duration replyTimeout) {
        return new OpeningLimit(longest(replyTimeout), replyTimeout, 0, 0, 0);
    }

    boolean mayBegin(long nanos) {
        return hanging < MOST_HANGING || nanos - lastNanos >= PAUSE.toNanos();
    }

    /** Returns the limit after a connection has begun, if it may. */
    OpeningLimit begun(long nanos) {
        return mayBegin(nanos) ? new OpeningLimit(limit, shortest, hanging, successes, nanos) : this;
    }

    /** Returns the limit after a connection was opened. */
    OpeningLimit opened() {
        return new OpeningLimit(shortest, shortest, 0, successes + 1, lastNanos);
    }

    /** Returns the limit after a connection was not opened in time. */
    OpeningLimit tookTooLong() {
        Duration doubled = limit.multipliedBy(2);
        Duration longest = longest(shortest);
        return new OpeningLimit(
                doubled.compareTo(longest) < 0 ? doubled : longest, shortest, hanging + 1, successes, lastNanos);
    }

    /**
     * Returns the limit after such a connection was opened or refused at last.
     *
     * @param countedAt the number of successes when it had taken too long
     */
    OpeningLimit ended(int countedAt) {
        return countedAt == successes ? new OpeningLimit(limit, shortest, hanging - 1, successes, lastNanos) : this;
    }

    private static Duration longest(Duration replyTimeout) {
        return replyTimeout.compareTo(LONGEST) < 0 ? LONGEST : replyTimeout;
    }
}
