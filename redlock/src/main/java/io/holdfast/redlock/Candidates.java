package io.holdfast.redlock;

import io.holdfast.spi.LockClaim;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The claims that wait or hold. Each leaves with its release, or when it did not wait and was not granted; what nobody has asked about for
 * two leases is swept away, so there is never much more than what lives.
 */
final class Candidates {

    private static final int SWEEP_AFTER = 1_024;

    private final ConcurrentMap<String, Candidate> byId = new ConcurrentHashMap<>();
    private final AtomicInteger added = new AtomicInteger();
    private final int masters;

    Candidates(int masters) {
        this.masters = masters;
    }

    /** Remembered from now on. */
    Candidate of(LockClaim claim, long nowNanos) {
        Candidate candidate = byId.get(claim.id());
        if (candidate == null) {
            Candidate created = new Candidate(claim.id(), masters);
            created.touch(nowNanos, claim.lease().toNanos());
            candidate = byId.putIfAbsent(claim.id(), created);
            if (candidate == null) {
                candidate = created;
                sweepInTime(nowNanos);
            }
        }
        candidate.touch(nowNanos, claim.lease().toNanos());
        return candidate;
    }

    /** One that is not known stands under its own id everywhere, and is not remembered. */
    Candidate known(LockClaim claim, long nowNanos) {
        Candidate candidate = byId.get(claim.id());
        if (candidate == null) {
            return new Candidate(claim.id(), masters);
        }
        candidate.touch(nowNanos, claim.lease().toNanos());
        return candidate;
    }

    void forget(Candidate candidate) {
        byId.remove(candidate.id(), candidate);
    }

    int size(long nowNanos) {
        sweep(nowNanos);
        return byId.size();
    }

    private void sweepInTime(long nowNanos) {
        if (added.incrementAndGet() % SWEEP_AFTER == 0) {
            sweep(nowNanos);
        }
    }

    private void sweep(long nowNanos) {
        byId.values().removeIf(it -> it.isForgotten(nowNanos));
    }
}
