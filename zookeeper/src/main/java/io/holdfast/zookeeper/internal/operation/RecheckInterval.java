package io.holdfast.zookeeper.internal.operation;

import java.time.Duration;

/**
 * How long a waiter relies on its watch. A session does not lose a watch: events come in order on its connection, and after a reconnect the
 * driver requests the events that it missed. The recheck is for a defect of the driver that loses a watch anyway. Then the waiter waits
 * about as long as behind a holder that died: for the session time-out. The lease duration does not matter.
 */
public final class RecheckInterval {

    /** Even with short sessions, many waiters should not read often. */
    public static final Duration SHORTEST = Duration.ofSeconds(10);

    private static final int PARTS = 1 << 10;

    private RecheckInterval() {}

    /** Returns one to one and a half time-outs, depending on the claim, so that claims that began together do not read together. */
    static Duration nextAttemptWithin(Duration sessionTimeout, String claimId) {
        Duration least = sessionTimeout.compareTo(SHORTEST) < 0 ? SHORTEST : sessionTimeout;
        int part = (claimId.hashCode() & Integer.MAX_VALUE) % PARTS;
        return least.plus(least.multipliedBy(part).dividedBy(2L * PARTS));
    }
}
