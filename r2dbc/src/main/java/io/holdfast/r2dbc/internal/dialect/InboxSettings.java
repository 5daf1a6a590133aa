package io.holdfast.r2dbc.internal.dialect;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import reactor.core.scheduler.Scheduler;

/**
 * How often a client reads its messages in a database without notifications.
 *
 * @param claimTime how long a waiter may take to confirm a grant
 * @param replyTimeout how long a client waits for an answer
 * @param timer for pauses
 * @param hasWaiting whether any claim of this client waits now
 */
public record InboxSettings(Duration claimTime, Duration replyTimeout, Scheduler timer, BooleanSupplier hasWaiting) {

    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(5);

    private static final Duration LONGEST_PAUSE = Duration.ofMillis(160);

    /**
     * Returns the time until the next read: a quarter of the time since the last message came, or since a claim began to wait. So a lock that
     * changes hands quickly is read often. A grant is read well before its claim time is over.
     */
    public Duration pauseAfter(Duration silence) {
        Duration pause = shorter(silence.dividedBy(4), shorter(LONGEST_PAUSE, claimTime.dividedBy(4)));
        return pause.compareTo(SHORTEST_PAUSE) < 0 ? SHORTEST_PAUSE : pause;
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }
}
