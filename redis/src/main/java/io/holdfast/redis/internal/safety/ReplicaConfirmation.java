package io.holdfast.redis.internal.safety;

import static java.util.Objects.requireNonNull;

import java.time.Duration;

/**
 * How many replicas must have a grant before it counts, and how long they have.
 *
 * @param replicas how many of them must have it
 * @param within how long they have, in whole milliseconds
 */
public record ReplicaConfirmation(int replicas, Duration within) {

    private static final Duration SHORTEST = Duration.ofMillis(1);
    private static final Duration LONGEST = Duration.ofMinutes(1);

    public ReplicaConfirmation {
        requireNonNull(within, "within");
        if (replicas < 1) {
            throw new IllegalArgumentException("replicas must be at least 1, was " + replicas);
        }
        // To Redis, WAIT with zero milliseconds waits for ever.
        if (within.compareTo(SHORTEST) < 0 || within.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("within must be from 1 ms to 1 minute, was " + within);
        }
    }
}
