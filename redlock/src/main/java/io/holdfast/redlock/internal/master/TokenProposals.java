package io.holdfast.redlock.internal.master;

import io.holdfast.redlock.internal.quorum.TokenFloor;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The floor that this client proposes for its next token, by its clock and by the tokens that it has seen. Thread-safe.
 */
public final class TokenProposals {

    private final WallClock wallClock;
    private final AtomicReference<TokenFloor> floor;

    TokenProposals(WallClock wallClock) {
        this.wallClock = wallClock;
        floor = new AtomicReference<>(TokenFloor.initial());
    }

    /** Returns the floor for a claim that wants at least this one. */
    public long proposed(long wanted) {
        return Math.max(wanted, floor.get().proposed(wallClock.micros()));
    }

    /** A majority has granted that token after this proposal. */
    public void granted(long token, long proposal) {
        long now = wallClock.micros();
        floor.updateAndGet(it -> it.seen(token, proposal, now));
    }

    /** Returns what this client's wall clock shows, in microseconds. */
    public long nowMicros() {
        return wallClock.micros();
    }
}
