package io.holdfast.internal.memory;

import io.holdfast.LockKind;
import io.holdfast.LockWaiter;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.support.Printable;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** A claim as of its last attempt, and its place. Stale half a lease after that attempt, or the end of its run. */
record Waiter(LockClaim claim, long attemptedAtNanos, long aliveAtNanos, long place) {

    Waiter alive(long now) {
        return new Waiter(claim, attemptedAtNanos, now, place);
    }

    Waiter alone() {
        return new Waiter(claim.withClient(""), attemptedAtNanos, aliveAtNanos, place);
    }

    LockWaiter shown(long now) {
        return new LockWaiter(
                claim.id(),
                claim.key().kind(),
                claim.permits(),
                claim.key().permits(),
                Optional.empty(),
                Map.of("last attempt", Printable.duration(Duration.ofNanos(now - attemptedAtNanos)) + " ago"));
    }

    /** Whether it may be the first member of a run. */
    boolean mayLead() {
        return !claim.client().isEmpty()
                && (claim.key().kind() == LockKind.MUTEX || claim.key().kind() == LockKind.WRITE)
                && claim.waiting() == Waiting.QUEUE
                && claim.tokenFloor() == 0;
    }

    boolean mayFollow(Waiter first) {
        return mayLead()
                && claim.client().equals(first.claim.client())
                && claim.lease().equals(first.claim.lease());
    }

    boolean isStale(long now) {
        return now - staleAtNanos() >= 0;
    }

    long staleAtNanos() {
        return aliveAtNanos + claim.lease().toNanos() / 2;
    }
}
