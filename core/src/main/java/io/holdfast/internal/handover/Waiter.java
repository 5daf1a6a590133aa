package io.holdfast.internal.handover;

import io.holdfast.LockHolder;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.WatchSignal;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One claim of this process. Used under the lock of its {@link HandOvers}. */
public final class Waiter {

    /** Where it stands. */
    enum Standing {
        /** Watched, and not looked for yet; or it has to join again. */
        OUTSIDE,
        /** In the queue. */
        WAITING,
        /** Holds the lock under {@link #turn}. */
        OWNER,
        /** Wants to release, and the block of tokens that the next owner needs is on its way. */
        PASSING,
        /** Its release is that of {@link #turn} at the store, and not confirmed yet. */
        LEAVING
    }

    final String id;
    final HandOver of;
    Standing standing = Standing.OUTSIDE;

    /** The number of its last attempt, and when that came: its client counts the validity of a grant from a little earlier. */
    int attempt;

    long attemptedAtNanos;

    /** It was told to look again by then. */
    long attemptsByNanos;

    /** What it owns, or releases. */
    @Nullable
    Turn turn;

    // Of an owner.
    long token;

    /** Its client believes no longer than that. */
    long validUntilNanos;

    /** Whom to tell; absent when no subscriber watches. */
    @Nullable
    Consumer<WatchSignal> watch;

    /** Continues a release that was put off. For the reactive part. */
    @Nullable
    Consumer<Reply<Ownership>> resume;

    // The queue.
    @Nullable
    Waiter before;

    @Nullable
    Waiter behind;

    Waiter(String id, HandOver of) {
        this.id = id;
        this.of = of;
    }

    /** Neither waits nor owns. */
    void leave() {
        standing = Standing.OUTSIDE;
        turn = null;
    }

    /** In the place of the claim under which it has the lock. For how long it has had it is not known: that claim may have had other owners. */
    LockHolder shown(LockHolder atStore) {
        Map<String, String> details = new LinkedHashMap<>(atStore.details());
        details.put("claim at the store", atStore.claimId());
        return new LockHolder(id, atStore.kind(), token, Optional.empty(), atStore.left(), details);
    }

    /**
     * What continues its release.
     *
     * @param continuation told what became of it
     */
    public void resumeWith(Consumer<Reply<Ownership>> continuation) {
        resume = continuation;
    }

    /**
     * Takes what continues its release.
     *
     * @return null when it was taken
     */
    public @Nullable Consumer<Reply<Ownership>> takeResume() {
        Consumer<Reply<Ownership>> taken = resume;
        resume = null;
        return taken;
    }

    @Override
    public String toString() {
        return "%s %s, attempt %d".formatted(id, standing, attempt);
    }
}
