package io.holdfast.internal.memory;

import io.holdfast.LockHolder;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** A claim that holds the lock of a {@link LockQueue}, or a share of it, until its expiry. */
record Holder(LockClaim look, long token, long sinceNanos, long expiryNanos) {

    int permits() {
        return look.permits();
    }

    Holder until(long expiryNanos) {
        return new Holder(look, token, sinceNanos, expiryNanos);
    }

    LockHolder shown(long now) {
        return new LockHolder(
                look.id(),
                look.key().kind(),
                token,
                Optional.of(Duration.ofNanos(now - sinceNanos)),
                Optional.of(Duration.ofNanos(expiryNanos - now)),
                permits() > 1 ? Map.of("permits taken", Integer.toString(permits())) : Map.of());
    }

    boolean isOver(long now) {
        return expiryNanos - now <= 0;
    }

    LockAttempt standing(long now) {
        return new LockAttempt.Acquired(token, Duration.ofNanos(expiryNanos - now));
    }

    /** Counted from the attempt that it answers: the only moment whose send time the client knows for sure. */
    WatchSignal granted(Waiter as) {
        return new WatchSignal.Granted(
                token, as.look().attempt(), Duration.ofNanos(expiryNanos - as.attemptedAtNanos()));
    }
}
