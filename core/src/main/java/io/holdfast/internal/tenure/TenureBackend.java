package io.holdfast.internal.tenure;

import static java.util.Objects.requireNonNull;

import io.holdfast.LocalHandOver;
import io.holdfast.LockHolder;
import io.holdfast.internal.timing.DeliveryLine;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.ForwardingLockBackend;
import io.holdfast.spi.support.SignalSink;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * The reactive part of {@link LocalHandOver}: calls the back end, and carries out the decisions of {@link ClaimTable}.
 * It decides within a short critical section, and acts outside of it.
 */
public final class TenureBackend implements ForwardingLockBackend {

    /** Locks of different names seldom wait for each other; a power of two. */
    private static final int SHARDS = 16;

    private final LockBackend store;
    private final TenureShard[] shards = new TenureShard[SHARDS];

    /** Written once, by {@link #close()}. */
    private volatile boolean isClosed;

    public TenureBackend(LockBackend store, Bounds bounds, Scheduler clock) {
        this(store, now -> new ClaimTable(bounds, now), clock);
    }

    /** Takes a factory of the decisions, for tests. */
    TenureBackend(LockBackend store, LongFunction<ClaimTable> decisions, Scheduler clock) {
        this.store = store;
        DeliveryLine line = new DeliveryLine(clock);
        for (int i = 0; i < SHARDS; i++) {
            shards[i] = new TenureShard(store, clock, line, decisions.apply(clock.now(TimeUnit.NANOSECONDS)));
        }
    }

    @Override
    public LockBackend delegate() {
        return store;
    }

    private TenureShard shard(LockClaim claim) {
        return shard(claim.key());
    }

    private TenureShard shard(LockKey key) {
        int hash = key.name().hashCode();
        return shards[(hash ^ (hash >>> 16)) & (SHARDS - 1)];
    }

    /**
     * Returns all features but {@link LockFeature#HAND_ON} and {@link LockFeature#RUNS}: the back end does not know the
     * claims of this process.
     */
    @Override
    public Set<LockFeature> features() {
        Set<LockFeature> offered = EnumSet.copyOf(store.features());
        offered.removeAll(EnumSet.of(LockFeature.HAND_ON, LockFeature.RUNS));
        return Collections.unmodifiableSet(offered);
    }

    @Override
    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
        requireNonNull(claim, "claim");
        return isClosed
                ? store.tryAcquire(claim)
                : Mono.defer(() -> shard(claim).tryAcquire(claim));
    }

    @Override
    public Mono<Renewal> renew(LockClaim claim) {
        requireNonNull(claim, "claim");
        return Mono.defer(() -> shard(claim).renewTenure(claim));
    }

    @Override
    public Mono<Ownership> release(LockClaim claim) {
        requireNonNull(claim, "claim");
        return Mono.defer(() -> shard(claim).release(claim));
    }

    @Override
    public Flux<WatchSignal> watch(LockClaim claim) {
        requireNonNull(claim, "claim");
        return isClosed || !ClaimTable.concerns(claim) ? store.watch(claim) : new Signals(shard(claim), claim);
    }

    @Override
    public Flux<Renewal> renewAll(List<LockClaim> claims) {
        return Flux.defer(() -> Decider.renewAll(store, claims, this::shard));
    }

    /** Replaces the claim that the back end knows by the claim of this process that holds the lock by a hand-over. */
    @Override
    public Flux<LockHolder> holders(LockKey key) {
        return store.holders(key).map(holder -> shard(key).holder(key.name(), holder));
    }

    @Override
    public Mono<Void> close() {
        isClosed = true;
        return store.close();
    }

    @Override
    public String toString() {
        List<String> kept = new ArrayList<>();
        for (TenureShard shard : shards) {
            kept.addAll(shard.contents());
        }
        return "LocalHandOver[%s%s]".formatted(store, kept.isEmpty() ? "" : ", " + kept);
    }

    /** The signals of a claim of this process. */
    private final class Signals extends Flux<WatchSignal> {

        private final TenureShard shard;
        private final LockClaim claim;

        Signals(TenureShard shard, LockClaim claim) {
            this.shard = shard;
            this.claim = claim;
        }

        @Override
        public void subscribe(CoreSubscriber<? super WatchSignal> subscriber) {
            SignalSink sink = new SignalSink(claim.id(), subscriber, shard::unwatched);
            if (shard.isWatchedBy(sink, claim)) {
                subscriber.onSubscribe(sink);
            } else {
                store.watch(claim).subscribe(subscriber);
            }
        }
    }
}
