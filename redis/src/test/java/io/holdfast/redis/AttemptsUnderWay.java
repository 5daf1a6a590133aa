package io.holdfast.redis;

import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Counts attempts that are under way, and shows signals. The server may have carried out an attempt before the client
 * has read the answer.
 */
final class AttemptsUnderWay implements ForwardingLockBackend {

    private final LockBackend backend;
    private final Consumer<WatchSignal> onSignal;
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();
    private final AtomicInteger givenUp = new AtomicInteger();

    AttemptsUnderWay(LockBackend backend, Consumer<WatchSignal> onSignal) {
        this.backend = backend;
        this.onSignal = onSignal;
    }

    @Override
    public LockBackend delegate() {
        return backend;
    }

    @Override
    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
        return Mono.defer(() -> {
            begun.incrementAndGet();
            return backend.tryAcquire(claim)
                    .doOnCancel(givenUp::incrementAndGet)
                    .doFinally(signal -> ended.incrementAndGet());
        });
    }

    @Override
    public Flux<WatchSignal> watch(LockClaim claim) {
        return backend.watch(claim).doOnNext(onSignal);
    }

    /** Returns the number of attempts that the engine cancelled. */
    int givenUp() {
        return givenUp.get();
    }

    /** Whether there were at least this many attempts, and none is under way. */
    boolean areOver(int atLeast) {
        int over = ended.get();
        return over >= atLeast && over == begun.get();
    }
}
