package io.holdfast.internal.handover;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The claims of one process by their ids, and the locks that they want. Keeps no lock without such a claim. */
final class ClaimTable {

    /** Makes the object that decides about one lock. */
    @FunctionalInterface
    interface Maker {
        HandOver make(LockKey key, Duration lease);
    }

    private final Maker maker;

    /** By name; a name has more than one only if lease durations differ. */
    private final Map<String, List<HandOver>> locks = new HashMap<>();

    private final Map<String, Waiter> waiters = new HashMap<>();

    ClaimTable(Maker maker) {
        this.maker = maker;
    }

    @Nullable
    Waiter get(String id) {
        return waiters.get(id);
    }

    List<Waiter> all() {
        return List.copyOf(waiters.values());
    }

    Waiter add(LockClaim claim) {
        Waiter waiter = new Waiter(claim.id(), lock(claim));
        waiters.put(claim.id(), waiter);
        return waiter;
    }

    private HandOver lock(LockClaim claim) {
        List<HandOver> ofName = locks.computeIfAbsent(claim.key().name(), it -> new ArrayList<>(1));
        for (HandOver lock : ofName) {
            if (lock.lease.equals(claim.lease())) {
                lock.claims++;
                return lock;
            }
        }
        HandOver made = maker.make(claim.key(), claim.lease());
        made.claims = 1;
        ofName.add(made);
        return made;
    }

    void remove(Waiter waiter) {
        if (waiters.remove(waiter.id, waiter) && --waiter.of.claims == 0) {
            String name = waiter.of.key.name();
            List<HandOver> ofName = locks.get(name);
            if (ofName != null && ofName.remove(waiter.of) && ofName.isEmpty()) {
                locks.remove(name);
            }
        }
    }

    /**
     * Returns the claim of this process that holds the lock now, under a claim that holds it at the back end. Null if
     * there is none.
     */
    @Nullable
    Waiter owner(String name, String storeClaimId) {
        for (HandOver lock : locks.getOrDefault(name, List.of())) {
            Turn turn = lock.holding;
            if (turn != null && turn.watched().id().equals(storeClaimId)) {
                return turn.owner;
            }
        }
        return null;
    }

    /** Returns whether claims of this process wait for the lock of this claim. */
    boolean hasWaiters(LockClaim claim) {
        if (claim.key().kind() == LockKind.MUTEX) {
            for (HandOver lock : locks.getOrDefault(claim.key().name(), List.of())) {
                if (!lock.queue.isEmpty()) {
                    return true;
                }
            }
        }
        return false;
    }
}
