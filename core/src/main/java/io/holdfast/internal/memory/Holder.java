package io.holdfast.internal.memory;

import io.holdfast.LockHolder;
import io.holdfast.LockKind;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** A claim that holds a lock, or a share of it. Confirmed if its client has sent a request since the grant. */
record Holder(LockClaim claim, long token, long sinceNanos, long expiryNanos, boolean isConfirmed) {

    int permits() {
        return claim.permits();
    }

    Holder until(long expiryNanos) {
        return new Holder(claim, token, sinceNanos, expiryNanos, true);
    }

    boolean isWriter() {
        return claim.key().kind() == LockKind.WRITE;
    }

    LockHolder shown(long now) {
        return new LockHolder(
                claim.id(),
                claim.key().kind(),
                permits(),
                token,
                Optional.of(Duration.ofNanos(now - sinceNanos)),
                Optional.of(Duration.ofNanos(expiryNanos - now)),
                Map.of());
    }

    boolean isOver(long now) {
        return expiryNanos - now <= 0;
    }

    LockAttempt standing(long now) {
        return new LockAttempt.Acquired(token, Duration.ofNanos(expiryNanos - now));
    }

    WatchSignal granted(HeldRun held, Waiter as) {
        return new WatchSignal.GrantedRun(
                held.run, as.claim().attempt(), Duration.ofNanos(expiryNanos - as.attemptedAtNanos()));
    }

    /** Counts the lease from the attempt that the grant answers: the client knows when it sent that. */
    WatchSignal granted(Waiter as) {
        return new WatchSignal.Granted(
                token, as.claim().attempt(), Duration.ofNanos(expiryNanos - as.attemptedAtNanos()));
    }
}
