package io.holdfast.zookeeper.internal.operation;

import java.time.Duration;

/**
 * How long a waiter relies on its watch. A session does not lose a watch: events come in order on its connection, and the driver asks for
 * those that it missed when it is connected again. The recheck is for a defect of the driver that loses a watch all the same. The waiter then
 * waits about as long as behind a holder that died: the session time-out. The length of leases does not matter.
 */
public final class RecheckInterval {

    /** Many that wait should not read often, however short sessions are. */
    public static final Duration SHORTEST = Duration.ofSeconds(10);

    private static final int PARTS = 1 << 10;

    private RecheckInterval() {}

    /** From one to one and a half time-outs, by claim: those that began together do not read together. */
    static Duration nextAttemptWithin(Duration sessionTimeout, String claimId) {
        Duration least = sessionTimeout.compareTo(SHORTEST) < 0 ? SHORTEST : sessionTimeout;
        int part = (claimId.hashCode() & Integer.MAX_VALUE) % PARTS;
        return least.plus(least.multipliedBy(part).dividedBy(2L * PARTS));
    }
}
