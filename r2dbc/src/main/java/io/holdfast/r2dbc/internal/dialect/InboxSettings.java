package io.holdfast.r2dbc.internal.dialect;

import java.time.Duration;
import reactor.core.scheduler.Scheduler;

/**
 * How often a client reads its messages in a database without notifications.
 *
 * @param claimTime how long a waiter may take to confirm a grant
 * @param replyTimeout how long a client waits for an answer
 * @param timer for pauses
 */
public record InboxSettings(Duration claimTime, Duration replyTimeout, Scheduler timer) {

    static final Duration SHORTEST_PAUSE = Duration.ofMillis(20);

    private static final Duration LONGEST_PAUSE = Duration.ofMillis(160);

    /** Short enough that a grant is read well before its claim time is over. */
    Duration longestPause() {
        Duration quarter = claimTime.dividedBy(4);
        return quarter.compareTo(LONGEST_PAUSE) < 0 ? quarter : LONGEST_PAUSE;
    }
}
