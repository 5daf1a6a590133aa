package io.holdfast.spi.support;

import io.holdfast.LockHolder;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockRun;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Forwards every operation to {@link #delegate()}. A decorator implements this interface and overrides the methods that
 * it changes, so it cannot forget {@code watch} or {@code renewAll}.
 */
@FunctionalInterface
public interface ForwardingLockBackend extends LockBackend {

    /** {@return the back end that does the work, always the same instance} */
    LockBackend delegate();

    @Override
    default Mono<LockAttempt> tryAcquire(LockClaim claim) {
        return delegate().tryAcquire(claim);
    }

    @Override
    default Mono<Renewal> renew(LockClaim claim) {
        return delegate().renew(claim);
    }

    @Override
    default Mono<Renewal> adopt(LockClaim claim, long fencingToken) {
        return delegate().adopt(claim, fencingToken);
    }

    @Override
    default Mono<Ownership> release(LockClaim claim) {
        return delegate().release(claim);
    }

    @Override
    default Mono<LockRun.End> endRun(LockClaim claim, long number, int served) {
        return delegate().endRun(claim, number, served);
    }

    @Override
    default Flux<WatchSignal> watch(LockClaim claim) {
        return delegate().watch(claim);
    }

    @Override
    default Flux<Renewal> renewAll(List<LockClaim> claims) {
        return delegate().renewAll(claims);
    }

    @Override
    default Flux<LockHolder> holders(LockKey key) {
        return delegate().holders(key);
    }

    @Override
    default Mono<Void> ping() {
        return delegate().ping();
    }

    @Override
    default void checkLease(Duration lease) {
        delegate().checkLease(lease);
    }

    @Override
    default Set<LockFeature> features() {
        return delegate().features();
    }

    @Override
    default String name() {
        return delegate().name();
    }

    @Override
    default Mono<Void> close() {
        return delegate().close();
    }
}
