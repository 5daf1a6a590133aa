package io.holdfast;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKind;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A claim that had a place in the queue of a lock when the store was asked.
 *
 * @param claimId the waiting claim; unique for each acquisition
 * @param kind what it waits for
 * @param permits by how many permits a claim of a semaphore judges; else 1. How many it wants is in the details if it is more than one
 * @param waiting for how long it has had its place; empty when the store does not know it
 * @param details what this store can tell besides, in the order to show it, from a name to its value. For the eyes of an operator; names and
 *     values may change
 */
public record LockWaiter(
        String claimId, LockKind kind, int permits, Optional<Duration> waiting, Map<String, String> details) {

    /**
     * Copies the details.
     *
     * @param claimId the waiting claim
     * @param kind what it waits for
     * @param permits by how many permits a claim of a semaphore judges
     * @param waiting for how long it has had its place
     * @param details what this store can tell besides
     */
    public LockWaiter {
        requireNonNull(claimId, "claimId");
        requireNonNull(kind, "kind");
        requireNonNull(waiting, "waiting");
        details = Collections.unmodifiableMap(new LinkedHashMap<>(details));
    }

    /**
     * The label of the client that made the claim, see {@link LockClaim#owner()}.
     *
     * @return the label; empty for a claim without one
     */
    public String owner() {
        return LockClaim.ownerOf(claimId);
    }
}
