package io.holdfast;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.LockClaim;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A claim that held a lock, or a share of it, when the back end answered. It may be out of date when it arrives: use it
 * for no decision that needs the lock.
 *
 * @param claimId the holding claim; unique for each acquisition
 * @param kind what the claim holds: a mutex, the reader's or the writer's side, or permits
 * @param permits how many permits of a semaphore it has taken; else 1
 * @param fencingToken its fencing token
 * @param held for how long the claim has held the lock, by the server's clock; empty when the server does not know it
 * @param remaining for how long the server keeps the lock for the claim if no renewal arrives; empty when the server does
 *     not know it, for example where a session holds the lock
 * @param details further data of this back end, in the order to show them: from a name to its value, such as
 *     {@code session} to {@code 0x1a2b}. For operators; names and values may change
 */
public record LockHolder(
        String claimId,
        LockKind kind,
        int permits,
        long fencingToken,
        Optional<Duration> held,
        Optional<Duration> remaining,
        Map<String, String> details) {

    /**
     * Copies the details.
     *
     * @param claimId the holding claim
     * @param kind what the claim holds
     * @param permits how many permits it has taken
     * @param fencingToken its fencing token
     * @param held for how long the claim has held the lock
     * @param remaining for how long the server keeps the lock for the claim
     * @param details further data of this back end
     */
    public LockHolder {
        requireNonNull(claimId, "claimId");
        requireNonNull(kind, "kind");
        requireNonNull(held, "held");
        requireNonNull(remaining, "remaining");
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
