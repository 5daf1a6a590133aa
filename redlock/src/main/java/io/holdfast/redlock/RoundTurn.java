package io.holdfast.redlock;

import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * One subscription to an attempt, from its place behind earlier attempts of the same claim until its end. A subscriber that leaves
 * while it waits for its turn leaves its place to be passed over, so that the attempt behind does not pass the one in front.
 */
final class RoundTurn {

    private final Masters masters;
    private final Candidates candidates;
    private final Candidate candidate;
    private final LockClaim claim;
    private final MonoSink<LockAttempt> sink;

    // Both: guarded by this.
    private boolean hasBegun;
    private boolean isOver;

    private RoundTurn(Masters masters, Candidates candidates, LockClaim claim, MonoSink<LockAttempt> sink) {
        this.masters = masters;
        this.candidates = candidates;
        this.claim = claim;
        this.sink = sink;
        candidate = candidates.of(claim, masters.now());
    }

    /** The answer to one attempt. */
    static Mono<LockAttempt> ask(Masters masters, Candidates candidates, LockClaim claim) {
        return Mono.create(sink -> {
            RoundTurn turn = new RoundTurn(masters, candidates, claim, sink);
            sink.onDispose(turn::over);
            turn.candidate.enter(turn::begin);
        });
    }

    private void begin() {
        boolean isLate;
        synchronized (this) {
            isLate = isOver;
            hasBegun = true;
        }
        if (isLate) {
            candidate.exit();
            return;
        }
        try {
            new AcquireRound(masters, candidates, candidate, claim, sink).start();
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
        if (!candidate.wasAsked() && !candidate.isWatched()) {
            // It left before anything was asked, and may have released the claim before that was even remembered.
            candidates.forget(candidate);
        }
        if (isToExit) {
            candidate.exit();
        }
    }
}
