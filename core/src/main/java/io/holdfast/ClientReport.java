package io.holdfast;

import java.time.Duration;
import java.util.List;

/**
 * The leases and waiting acquisitions of a client at one instant, as far as the client knows, for operators. It may be
 * out of date when you read it. {@link LockInspector} shows the locks of all clients, as the back end knows them.
 *
 * @param holdCount how many leases the client holds; nested leases are not counted
 * @param holds the oldest leases; at most {@value #MOST}
 * @param waitCount how many acquisitions are under way
 * @param waits the oldest acquisitions; at most {@value #MOST}
 */
public record ClientReport(long holdCount, List<Hold> holds, long waitCount, List<Wait> waits) {

    /** The longest of each list: {@value}. */
    public static final int MOST = 100;

    /**
     * Copies the lists.
     *
     * @param holdCount how many leases the client holds
     * @param holds the oldest leases
     * @param waitCount how many acquisitions are under way
     * @param waits the oldest acquisitions
     */
    public ClientReport {
        holds = List.copyOf(holds);
        waits = List.copyOf(waits);
    }

    /**
     * A lease that the client holds.
     *
     * @param lockName the lock
     * @param kind a mutex, the reader's or the writer's side, or permits
     * @param permits how many permits of a semaphore; else 1
     * @param claimId the id of the claim, as in the back end and in inspectors
     * @param fencingToken its token
     * @param held the time since the grant
     * @param remaining the time until the lease ends if no renewal is confirmed
     */
    public record Hold(
            String lockName,
            LockKind kind,
            int permits,
            String claimId,
            long fencingToken,
            Duration held,
            Duration remaining) {}

    /**
     * An acquisition that is under way.
     *
     * @param lockName the lock
     * @param kind what the acquisition waits for
     * @param permits how many permits of a semaphore; else 1
     * @param waited the time since the subscription
     */
    public record Wait(String lockName, LockKind kind, int permits, Duration waited) {}
}
