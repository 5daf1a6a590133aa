package io.holdfast.redlock.internal.operation;

import io.holdfast.redlock.internal.claim.ClaimRegistry;
import io.holdfast.redlock.internal.claim.ClaimState;
import io.holdfast.redlock.internal.master.Masters;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * One subscription to an attempt, from its place behind earlier attempts of the same claim until its end. If the
 * subscriber leaves while it waits, its place stays and is skipped later. So the attempt behind it does not overtake
 * the one in front. All runs in the mailbox of the claim.
 */
public final class AcquireTurn {

    private final Masters masters;
    private final ClaimRegistry registry;
    private final ClaimState state;
    private final LockClaim claim;
    private final MonoSink<LockAttempt> sink;
    private @Nullable AcquireRound round;
    private boolean hasBegun;
    private boolean isOver;

    private AcquireTurn(Masters masters, ClaimRegistry registry, LockClaim claim, MonoSink<LockAttempt> sink) {
        this.masters = masters;
        this.registry = registry;
        this.claim = claim;
        this.sink = sink;
        state = registry.of(claim, masters.now());
    }

    /** Returns the answer to one attempt. */
    static Mono<LockAttempt> of(Masters masters, ClaimRegistry registry, LockClaim claim) {
        return Mono.create(sink -> {
            AcquireTurn turn = new AcquireTurn(masters, registry, claim, sink);
            sink.onDispose(() -> turn.state.mailbox().post(turn::over));
            turn.state.mailbox().post(() -> turn.state.enter(turn::begin));
        });
    }

    private void begin() {
        if (isOver) {
            state.exit();
            return;
        }
        hasBegun = true;
        try {
            round = new AcquireRound(masters, registry, state, claim, sink);
            round.start();
        } catch (RuntimeException | Error defect) {
            Exceptions.throwIfJvmFatal(defect);
            state.mailbox().after(() -> sink.error(defect));
        }
    }

    /** The attempt was answered, failed or cancelled. */
    private void over() {
        if (isOver) {
            return;
        }
        isOver = true;
        if (round != null) {
            round.leave();
        } else if (!state.hasRound() && !state.isWatched()) {
            // The subscriber left before an attempt was sent. It may have released the claim before the registry even
            // had it.
            registry.forget(state);
        }
        if (hasBegun) {
            state.exit();
        }
    }
}
