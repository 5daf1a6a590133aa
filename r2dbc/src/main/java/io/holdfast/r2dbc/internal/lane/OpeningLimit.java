package io.holdfast.r2dbc.internal.lane;

import java.time.Duration;

/**
 * How long making a connection may take. The first one of a process also loads the driver, which takes seconds on a busy machine. Later ones have the time of a
 * reply, so that a server that has moved is found soon. But each one that takes too long gives twice the time to the next: a server that makes connections
 * slowly is not asked in vain for ever. Immutable.
 *
 * @param shortest the time limit of a reply
 */
record OpeningLimit(Duration limit, Duration shortest) {

    private static final Duration LONGEST = Duration.ofSeconds(10);

    /** Of the first connection. */
    static OpeningLimit first(Duration replyTimeout) {
        return new OpeningLimit(longest(replyTimeout), replyTimeout);
    }

    /** After a connection was made. */
    OpeningLimit opened() {
        return new OpeningLimit(shortest, shortest);
    }

    /** After a connection was not made in time. */
    OpeningLimit tookTooLong() {
        Duration doubled = limit.multipliedBy(2);
        Duration longest = longest(shortest);
        return new OpeningLimit(doubled.compareTo(longest) < 0 ? doubled : longest, shortest);
    }

    private static Duration longest(Duration replyTimeout) {
        return replyTimeout.compareTo(LONGEST) < 0 ? LONGEST : replyTimeout;
    }
}
