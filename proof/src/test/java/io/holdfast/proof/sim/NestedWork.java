package io.holdfast.proof.sim;

import io.holdfast.LockLostException;
import io.holdfast.ReactiveLock;
import java.time.Duration;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/**
 * Work in a nested {@code withLock}. The outer work does not wait for it, so it may outlive the outermost lease. The nested work and its operation believe
 * in the lock until the work ends or is cancelled.
 */
final class NestedWork {

    private final Member member;
    private final long operation;
    private boolean isRunning;
    private boolean isAlone;

    NestedWork(Member member, long operation) {
        this.member = member;
        this.operation = operation;
    }

    void start(ReactiveLock lock, Duration length, ContextView outermost) {
        Disposable unused = lock.withLock(Mono.defer(() -> {
                            isRunning = true;
                            return Mono.delay(length, member.host());
                        })
                        .doOnTerminate(this::ends)
                        .doOnCancel(this::ends))
                .contextWrite(outermost)
                .subscribe(nothing -> {}, this::failed);
    }

    private void failed(Throwable error) {
        if (!(error instanceof LockLostException)) {
            member.host().world().defect("nested work failed with " + error, error);
        }
    }

    private void ends() {
        isRunning = false;
        if (isAlone) {
            member.ends(operation, "has its nested work ended");
        }
    }

    void outermostEnds(String how) {
        isAlone = true;
        if (isRunning && !member.delivers()) { // otherwise users' code may block the thread that signals its end
            member.goesOn(operation);
        } else {
            member.ends(operation, how);
        }
    }
}
