package io.holdfast.redlock.internal.claim;

import io.holdfast.spi.LockClaim;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The claims that wait or hold. A claim leaves with its release, or if it did not wait and was not granted. The
 * registry removes a claim without a request for two leases, so it never has many more than the living ones.
 */
public final class ClaimRegistry {

    private static final int SWEEP_AFTER = 1_024;

    private final ConcurrentMap<String, ClaimState> byId = new ConcurrentHashMap<>();
    private final AtomicInteger added = new AtomicInteger();
    private final int masters;

    public ClaimRegistry(int masters) {
        this.masters = masters;
    }

    /** Returns the state of a claim, and remembers it. */
    public ClaimState of(LockClaim claim, long nowNanos) {
        ClaimState state = byId.get(claim.id());
        if (state == null) {
            // After earlier attempts, which are forgotten: each had one id at a master, which may still be released.
            ClaimState created = new ClaimState(claim.id(), masters, claim.attempt() - 1);
            created.touch(nowNanos, claim.lease().toNanos());
            state = byId.putIfAbsent(claim.id(), created);
            if (state == null) {
                state = created;
                sweepInTime(nowNanos);
            }
        }
        state.touch(nowNanos, claim.lease().toNanos());
        return state;
    }

    /** Returns the state of a known claim. An unknown claim has its own id everywhere, and is not remembered. */
    public ClaimState known(LockClaim claim, long nowNanos) {
        ClaimState state = byId.get(claim.id());
        if (state == null) {
            return new ClaimState(claim.id(), masters, 0);
        }
        state.touch(nowNanos, claim.lease().toNanos());
        return state;
    }

    public void forget(ClaimState state) {
        byId.remove(state.id(), state);
    }

    public int size(long nowNanos) {
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
