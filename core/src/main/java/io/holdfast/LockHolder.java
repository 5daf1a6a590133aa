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
 * A claim that held a lock, or a share of it, when the store was asked. It may be out of date when it arrives: nothing may be decided by it that
 * needs the lock.
 *
 * @param claimId the holding claim; unique for each acquisition
 * @param kind what it holds: the whole of a mutex, the reader's or the writer's side, or permits: how many is in the details if it is more
 *     than one
 * @param fencingToken its fencing token
 * @param held for how long it has held the lock, by the store's clock; empty when the store does not know it
 * @param left for how long the store keeps the lock for it if no renewal comes; empty when the store does not know it, as where a session holds the
 *     lock
 * @param details what this store can tell besides, in the order to show it: from a name to its value, such as {@code session} to {@code 0x1a2b}.
 *     For the eyes of an operator; names and values may change
 */
public record LockHolder(
        String claimId,
        LockKind kind,
        long fencingToken,
        Optional<Duration> held,
        Optional<Duration> left,
        Map<String, String> details) {

    /**
     * Copies the details.
     *
     * @param claimId the holding claim
     * @param kind what it holds
     * @param fencingToken its fencing token
     * @param held for how long it has held the lock
     * @param left for how long the store keeps the lock for it
     * @param details what this store can tell besides
     */
    public LockHolder {
        requireNonNull(claimId, "claimId");
        requireNonNull(kind, "kind");
        requireNonNull(held, "held");
        requireNonNull(left, "left");
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
