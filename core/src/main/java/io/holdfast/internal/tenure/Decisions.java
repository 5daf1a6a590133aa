package io.holdfast.internal.tenure;

import io.holdfast.LockHolder;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Renewal;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What {@link ClaimTable} and {@link RunTable} decide alike, about the claims of one process by their ids. */
abstract class Decisions {

    private static final long SWEEP_NANOS = Duration.ofSeconds(1).toNanos();

    final Map<String, LocalClaim> claims = new HashMap<>();
    private long lastSweepNanos;

    Decisions(long now) {
        lastSweepNanos = now;
    }

    abstract @Nullable Tenure owned(String id);

    /** The tenure to renew instead of a claim, perhaps for a shorter lease; null to renew the claim itself. */
    final Reply.@Nullable Ask<Renewal> renew(LockClaim renewal, long now) {
        Tenure tenure = owned(renewal.id());
        if (tenure == null) {
            return null;
        }
        tenure.shorten(renewal.lease(), now);
        return new Reply.Ask<>(tenure, tenure.claim().withLease(renewal.lease()));
    }

    abstract void renewed(Tenure tenure, String id, long sentAtNanos, Renewal answer, Moment at);

    /** Replaces a holder that the back end reports by the claim of this process that holds the lock now. */
    abstract LockHolder holder(LockKey key, LockHolder atStore);

    final boolean isTimeToSweep(long now) {
        boolean isTime = now - lastSweepNanos >= SWEEP_NANOS;
        lastSweepNanos = isTime ? now : lastSweepNanos;
        return isTime;
    }

    final List<String> contents() {
        return claims.values().stream()
                .map(it -> "'%s' wanted by claim %s".formatted(it.of.key.name(), it))
                .toList();
    }
}
