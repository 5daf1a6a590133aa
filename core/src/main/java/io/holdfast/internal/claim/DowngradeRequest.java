package io.holdfast.internal.claim;

import io.holdfast.LockBackendException;
import io.holdfast.internal.engine.BackendCall;
import io.holdfast.internal.run.StoreDurations;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import reactor.core.publisher.Mono;

/**
 * An attempt that turns the writer into a reader. The claim may be released before the attempt ends, and the sending
 * thread may have slept until after the release. So a lock that the attempt gets then is released once more.
 */
final class DowngradeRequest implements BackendCall.Request<LockAttempt> {

    private final HeldLease writer;
    private final LockClaim attempt;
    private final long sentAtNanos;

    DowngradeRequest(HeldLease writer, LockClaim attempt, long sentAtNanos) {
        this.writer = writer;
        this.attempt = attempt;
        this.sentAtNanos = sentAtNanos;
    }

    @Override
    public String what() {
        return "downgrade";
    }

    @Override
    public Mono<LockAttempt> ask() {
        return writer.lock().engine().backend.tryAcquire(attempt);
    }

    @Override
    public void answered(LockAttempt answer) {
        boolean isLate = !writer.isDowngrading();
        if (!(answer instanceof LockAttempt.Acquired acquired)) {
            writer.downgradeDenied();
        } else if (acquired.fencingToken() != writer.fencingToken()) {
            writer.downgradeDenied(); // a new grant: another client may have held the lock in between
            writer.releaseInBackground(attempt);
        } else if (isLate) {
            writer.releaseAgain();
        } else {
            writer.downgraded(attempt, sentAtNanos, StoreDurations.leaseNanos(acquired.lease()));
        }
    }

    @Override
    public void failed(LockBackendException error) {
        if (writer.isDowngrading()) {
            writer.downgradeFailed(attempt, error);
        } else {
            writer.releaseAgain();
        }
    }
}
