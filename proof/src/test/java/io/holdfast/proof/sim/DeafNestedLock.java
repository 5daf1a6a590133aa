package io.holdfast.proof.sim;

import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import java.util.Optional;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/** A lock whose nested work gets the loss of the outermost lease, but not its release: the work continues without the lock. */
record DeafNestedLock(ReactiveLock real) implements ForwardingLock {

    @Override
    public ReactiveLock with(LockOptions options) {
        return new DeafNestedLock(real.with(options));
    }

    @Override
    public <T> Mono<T> withLock(Mono<? extends T> work) {
        return withLock(lease -> work);
    }

    @Override
    public <T> Mono<T> withLock(Function<? super LockLease, ? extends Mono<? extends T>> work) {
        return real.current()
                .map(Optional::of)
                .defaultIfEmpty(Optional.empty())
                .flatMap(
                        outermost -> outermost.map(lease -> nested(lease, work)).orElseGet(() -> real.withLock(work)));
    }

    private <T> Mono<T> nested(LockLease outermost, Function<? super LockLease, ? extends Mono<? extends T>> work) {
        Mono<T> loss = outermost
                .onLoss()
                .switchIfEmpty(Mono.never())
                .flatMap(reason ->
                        Mono.error(new LockLostException(outermost.lockName(), reason, outermost.fencingToken())));
        Mono<T> deaf =
                Mono.usingWhen(real.acquire(), work, view -> view.release().onErrorComplete());
        return Mono.firstWithSignal(deaf, loss);
    }
}
