package io.holdfast.redlock.internal.operation;

import io.holdfast.redlock.internal.claim.ClaimRegistry;
import io.holdfast.redlock.internal.claim.ClaimState;
import io.holdfast.redlock.internal.master.Masters;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * One subscription to an attempt, from its place behind earlier attempts of the same claim until its end. A subscriber that leaves
 * while it waits for its turn leaves its place to be passed over, so that the attempt behind does not pass the one in front.
 */
public final class AcquireTurn {

    private final Masters masters;
    private final ClaimRegistry registry;
    private final ClaimState state;
    private final LockClaim claim;
    private final MonoSink<LockAttempt> sink;

    // Both: guarded by this.
    private boolean hasBegun;
    private boolean isOver;

    private AcquireTurn(Masters masters, ClaimRegistry registry, LockClaim claim, MonoSink<LockAttempt> sink) {
        this.masters = masters;
        this.registry = registry;
        this.claim = claim;
        this.sink = sink;
        state = registry.of(claim, masters.now());
    }

    /** The answer to one attempt. */
    static Mono<LockAttempt> ask(Masters masters, ClaimRegistry registry, LockClaim claim) {
        return Mono.create(sink -> {
            AcquireTurn turn = new AcquireTurn(masters, registry, claim, sink);
            sink.onDispose(turn::over);
            turn.state.enter(turn::begin);
        });
    }

    private void begin() {
        boolean isLate;
        synchronized (this) {
            isLate = isOver;
            hasBegun = true;
        }
        if (isLate) {
            state.exit();
            return;
        }
        try {
            new AcquireRound(masters, registry, state, claim, sink).start();
        } catch (RuntimeException | Error defect) {
            Exceptions.throwIfJvmFatal(defect);
            sink.error(defect);
        }
    }

    /** Answered, failed or cancelled. */
    private void over() {
        boolean isToExit;
        synchronized (this) {
            isToExit = hasBegun && !isOver;
            isOver = true;
        }
        if (!state.wasAsked() && !state.isWatched()) {
            // It left before anything was asked, and may have released the claim before that was even remembered.
            registry.forget(state);
        }
        if (isToExit) {
            state.exit();
        }
    }
}
