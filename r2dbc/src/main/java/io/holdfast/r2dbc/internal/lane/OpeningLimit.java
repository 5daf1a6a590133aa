package io.holdfast.r2dbc.internal.lane;

import java.time.Duration;

/**
 * How long opening a connection may take. The first connection of a process also loads the driver, which takes seconds on a busy machine.
 * Later ones have the time of a reply, so that a server that has moved is found soon. But after each one that takes too long, the next has
 * twice the time. So a server that opens connections slowly can be reached at last. Immutable.
 *
 * @param shortest the time limit of a reply
 */
record OpeningLimit(Duration limit, Duration shortest) {

    private static final Duration LONGEST = Duration.ofSeconds(10);

    /** Returns the limit of the first connection. */
    static OpeningLimit first(Duration replyTimeout) {
        return new OpeningLimit(longest(replyTimeout), replyTimeout);
    }

    /** Returns the limit after a connection was opened. */
    OpeningLimit opened() {
        return new OpeningLimit(shortest, shortest);
    }

    /** Returns the limit after a connection was not opened in time. */
    OpeningLimit tookTooLong() {
        Duration doubled = limit.multipliedBy(2);
        Duration longest = longest(shortest);
        return new OpeningLimit(doubled.compareTo(longest) < 0 ? doubled : longest, shortest);
    }

    private static Duration longest(Duration replyTimeout) {
        return replyTimeout.compareTo(LONGEST) < 0 ? LONGEST : replyTimeout;
    }
}
