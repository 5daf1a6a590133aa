package io.holdfast;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.LockClaim;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A claim that had a place in the queue of a lock when the back end answered.
 *
 * @param claimId the waiting claim; unique for each acquisition
 * @param kind what the claim waits for
 * @param permits how many permits of a semaphore it wants; else 1
 * @param allPermits how many permits the semaphore has, as this claim states it; else 1
 * @param waiting for how long the claim has had its place; empty when the server does not know it
 * @param details further data of this back end, in the order to show them, from a name to its value. For operators;
 *     names and values may change
 */
public record LockWaiter(
        String claimId,
        LockKind kind,
        int permits,
        int allPermits,
        Optional<Duration> waiting,
        Map<String, String> details) {

    /**
     * Copies the details.
     *
     * @param claimId the waiting claim
     * @param kind what the claim waits for
     * @param permits how many permits it wants
     * @param allPermits how many permits the semaphore has, as this claim states it
     * @param waiting for how long the claim has had its place
     * @param details further data of this back end
     */
    public LockWaiter {
        requireNonNull(claimId, "claimId");
        requireNonNull(kind, "kind");
        requireNonNull(waiting, "waiting");
        details = Collections.unmodifiableMap(new LinkedHashMap<>(details));
    }

    /**
     * {@return the label of the client that made the claim, see {@link LockClaim#owner()}; empty for a claim without
     * one}
     */
    public String owner() {
        return LockClaim.ownerOf(claimId);
    }
}
