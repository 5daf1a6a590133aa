package io.holdfast.redis;

import io.holdfast.spi.ForwardingLockBackend;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Counts looks, since that the server has carried one out does not say that the client has read the answer; and shows signals. */
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

    /** Those that the engine did not wait for any longer. */
    int givenUp() {
        return givenUp.get();
    }

    /** Whether there were at least so many, and none is under way. */
    boolean areOver(int atLeast) {
        int over = ended.get();
        return over >= atLeast && over == begun.get();
    }
}
