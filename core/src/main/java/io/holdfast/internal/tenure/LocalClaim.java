package io.holdfast.internal.tenure;

import io.holdfast.LockHolder;
import io.holdfast.spi.WatchSignal;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One claim of this process. Used under the lock of its {@link Decisions}. */
final class LocalClaim {

    enum Standing {
        /** Watched, and without an attempt so far; or it has to join again. */
        OUTSIDE,
        /** In the line of its process, or a member of a run that was not served. */
        WAITING,
        OWNER,
        /** Wants to release, while the block of tokens for the next owner is on its way. */
        PASSING,
        /** Has asked to go on alone, as a reader or by an adoption, and has no answer. */
        PARTING,
        /** Has sent the release of {@link #tenure} to the back end, without a confirmation so far. */
        LEAVING
    }

    final String id;
    final TenureRules of;
    Standing standing = Standing.OUTSIDE;

    /** Its last attempt, and when it arrived. Its client counts the validity of a grant from a little earlier. */
    int attempt;

    long attemptedAtNanos;

    /** The time by which it should send its next attempt. */
    long attemptsByNanos;

    /** The tenure that it owns or releases, or that of the run that it is in. */
    @Nullable
    Tenure tenure;

    long token;

    /** The local deadline of its client is not later than this. */
    long validUntilNanos;

    /** The receiver of signals; absent without a subscriber. */
    @Nullable
    Consumer<WatchSignal> watch;

    LocalClaim(String id, TenureRules of) {
        this.id = id;
        this.of = of;
    }

    void leave() {
        standing = Standing.OUTSIDE;
        tenure = null;
    }

    /** This claim in place of that of its tenure. That one may have had other owners, so the time held is not known. */
    LockHolder shown(LockHolder atStore) {
        Map<String, String> details = new LinkedHashMap<>(atStore.details());
        details.put("claim at the store", atStore.claimId());
        return new LockHolder(
                id, atStore.kind(), atStore.permits(), token, Optional.empty(), atStore.remaining(), details);
    }

    @Override
    public String toString() {
        return "%s %s, attempt %d".formatted(id, standing, attempt);
    }
}
