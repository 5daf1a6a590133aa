package io.holdfast.semantics;

import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A back end whose answers the test chooses, even answers that no back end should give. By default it grants and
 * renews.
 */
final class ScriptedStore implements LockBackend {

    final AtomicInteger attempts = new AtomicInteger();
    final List<String> released = new CopyOnWriteArrayList<>();
    final List<List<LockClaim>> batches = new CopyOnWriteArrayList<>();
    final Sinks.Many<WatchSignal> signals = Sinks.many().multicast().directBestEffort();

    // Written by the test.
    volatile Function<LockClaim, Mono<LockAttempt>> onAttempt =
            claim -> Mono.just(new LockAttempt.Acquired(7, claim.lease()));
    volatile Function<LockClaim, Mono<Renewal>> onRenewal = claim -> Mono.just(new Renewal.Held(claim.lease()));
    volatile Function<List<LockClaim>, Flux<Renewal>> onBatch =
            claims -> Flux.fromIterable(claims).map(claim -> new Renewal.Held(claim.lease()));

    volatile UnaryOperator<Mono<Ownership>> onRelease = UnaryOperator.identity();

    @Override
    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
        return Mono.defer(() -> {
            attempts.incrementAndGet();
            return onAttempt.apply(claim);
        });
    }

    @Override
    public Mono<Renewal> renew(LockClaim claim) {
        return Mono.defer(() -> {
            batches.add(List.of(claim));
            return onRenewal.apply(claim);
        });
    }

    @Override
    public Flux<Renewal> renewAll(List<LockClaim> claims) {
        return Flux.defer(() -> {
            batches.add(claims);
            return onBatch.apply(claims);
        });
    }

    @Override
    public Mono<Ownership> release(LockClaim claim) {
        return onRelease.apply(Mono.fromSupplier(() -> {
            released.add(claim.key().name());
            return Ownership.HELD;
        }));
    }

    @Override
    public Flux<WatchSignal> watch(LockClaim claim) {
        return signals.asFlux();
    }

    @Override
    public Set<LockFeature> features() {
        return Set.of();
    }

    @Override
    public String name() {
        return "scripted";
    }

    @Override
    public Mono<Void> close() {
        return Mono.empty();
    }

    void answer(LockAttempt attempt) {
        onAttempt = claim -> Mono.just(attempt);
    }

    /** Signals a change to all claims, so that the engine sends a request for each. */
    void changed() {
        signals.emitNext(new WatchSignal.Changed(), Sinks.EmitFailureHandler.FAIL_FAST);
    }

    static Duration forEver() {
        return Duration.ofSeconds(Long.MAX_VALUE);
    }
}
