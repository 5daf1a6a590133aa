package io.holdfast;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.LockKind;
import java.time.Duration;
import java.util.List;

/**
 * What a client held and waited for at one instant, as far as the client knows, for the eyes of an operator. It may be out of date when it is read. {@link
 * LockInspector} tells what the store knows of all clients.
 *
 * @param holdCount how many leases the client holds; nested leases are not counted
 * @param holds the oldest of them; at most {@value #MOST}
 * @param waitCount how many acquisitions are under way
 * @param waits the oldest of them; at most {@value #MOST}
 */
public record ClientReport(long holdCount, List<Hold> holds, long waitCount, List<Wait> waits) {

    /** So many of each are named at most: {@value}. */
    public static final int MOST = 100;

    /**
     * Copies the lists.
     *
     * @param holdCount how many leases the client holds
     * @param holds the oldest of them
     * @param waitCount how many acquisitions are under way
     * @param waits the oldest of them
     */
    public ClientReport {
        holds = List.copyOf(holds);
        waits = List.copyOf(waits);
    }

    /**
     * A lease that the client holds.
     *
     * @param lockName the lock
     * @param kind the whole of a mutex, the reader's or the writer's side, or permits
     * @param permits how many permits of a semaphore; else 1
     * @param claimId the claim, as the store and inspectors have it
     * @param fencingToken its token
     * @param held since the grant
     * @param remaining until the lease ends if no renewal is confirmed
     */
    public record Hold(
            String lockName,
            LockKind kind,
            int permits,
            String claimId,
            long fencingToken,
            Duration held,
            Duration remaining) {

        /**
         * As it is.
         *
         * @param lockName the lock
         * @param kind the whole of a mutex, the reader's or the writer's side, or permits
         * @param permits how many permits of a semaphore
         * @param claimId the claim
         * @param fencingToken its token
         * @param held since the grant
         * @param remaining until the lease ends
         */
        public Hold {
            requireNonNull(lockName, "lockName");
            requireNonNull(kind, "kind");
            requireNonNull(claimId, "claimId");
            requireNonNull(held, "held");
            requireNonNull(remaining, "remaining");
        }
    }

    /**
     * An acquisition that is under way.
     *
     * @param lockName the lock
     * @param kind what it waits for
     * @param permits how many permits of a semaphore; else 1
     * @param waited since the subscription
     */
    public record Wait(String lockName, LockKind kind, int permits, Duration waited) {

        /**
         * As it is.
         *
         * @param lockName the lock
         * @param kind what it waits for
         * @param permits how many permits of a semaphore
         * @param waited since the subscription
         */
        public Wait {
            requireNonNull(lockName, "lockName");
            requireNonNull(kind, "kind");
            requireNonNull(waited, "waited");
        }
    }
}
