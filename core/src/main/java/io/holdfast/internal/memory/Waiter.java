package io.holdfast.internal.memory;

import io.holdfast.LockWaiter;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Printable;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** A claim in a {@link LockQueue}, by its last attempt. It is stale when it has not looked for half of its lease. */
record Waiter(LockClaim look, long attemptedAtNanos) {

    LockWaiter shown(long now) {
        Map<String, String> details = new LinkedHashMap<>();
        if (look.permits() > 1) {
            details.put("permits wanted", Integer.toString(look.permits()));
        }
        details.put("last attempt", Printable.duration(Duration.ofNanos(now - attemptedAtNanos)) + " ago");
        return new LockWaiter(look.id(), look.key().kind(), look.key().permits(), Optional.empty(), details);
    }

    boolean isStale(long now) {
        return now - staleAtNanos() >= 0;
    }

    long staleAtNanos() {
        return attemptedAtNanos + look.lease().toNanos() / 2;
    }
}
