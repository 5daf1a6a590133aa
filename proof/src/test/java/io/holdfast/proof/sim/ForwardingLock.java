package io.holdfast.proof.sim;

import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A lock that forwards all calls to another lock. */
interface ForwardingLock extends ReactiveLock {

    ReactiveLock real();

    @Override
    default String name() {
        return real().name();
    }

    @Override
    default ReactiveLock with(LockOptions options) {
        return real().with(options);
    }

    @Override
    default Mono<LockLease> tryAcquire() {
        return real().tryAcquire();
    }

    @Override
    default Mono<LockLease> acquire() {
        return real().acquire();
    }

    @Override
    default <T> Mono<T> withLock(Mono<? extends T> work) {
        return real().withLock(work);
    }

    @Override
    default <T> Mono<T> withLock(Function<? super LockLease, ? extends Mono<? extends T>> work) {
        return real().withLock(work);
    }

    @Override
    default <T> Flux<T> withLockMany(Function<? super LockLease, ? extends Publisher<? extends T>> work) {
        return real().withLockMany(work);
    }

    @Override
    default Mono<LockLease> current() {
        return real().current();
    }
}
