package io.holdfast.internal.tenure;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockBackendException;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.SignalSink;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.util.function.Tuple2;

/** The reactive part of {@link io.holdfast.LocalHandOver}: carries out the decisions of {@link ClaimTable}. */
public final class TenureBackend extends Decider<ClaimTable> {

    private static final Logger LOG = LoggerFactory.getLogger("io.holdfast.LockClient");

    /** Written once, by {@link #close()}. */
    private volatile boolean isClosed;

    public TenureBackend(LockBackend store, Bounds bounds, Scheduler clock) {
        this(store, now -> new ClaimTable(bounds, now), clock);
    }

    /** Takes a factory of the decisions, for tests. */
    TenureBackend(LockBackend store, LongFunction<ClaimTable> decisions, Scheduler clock) {
        super(store, clock, decisions.apply(clock.now(TimeUnit.NANOSECONDS)));
    }

    /** The back end does not know the claims of this process, so none can be handed on or be part of a run there. */
    @Override
    public Set<LockFeature> features() {
        Set<LockFeature> offered = EnumSet.copyOf(store.features());
        offered.removeAll(EnumSet.of(LockFeature.HAND_ON, LockFeature.RUNS));
        return Collections.unmodifiableSet(offered);
    }

    @Override
    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
        requireNonNull(claim, "claim");
        return isClosed ? store.tryAcquire(claim) : Mono.defer(() -> attempt(claim));
    }

    private Mono<LockAttempt> attempt(LockClaim claim) {
        Reply<LockAttempt> reply = decide((it, at) -> it.tryAcquire(claim, at));
        if (reply instanceof Reply.Answer<LockAttempt> it) {
            return Mono.just(it.answer());
        }
        if (!(reply instanceof Reply.Ask<LockAttempt> ask)) {
            return store.tryAcquire(claim);
        }
        return answered(
                Mono.defer(() -> store.tryAcquire(ask.claim())),
                answer -> decide((it, at) -> it.answered(ask, claim.id(), answer, at)),
                // has no effect if it was answered meanwhile
                () -> happens((it, at) -> it.attemptFailed(ask, claim.id(), at)));
    }

    @Override
    public Mono<Ownership> release(LockClaim claim) {
        requireNonNull(claim, "claim");
        return Mono.defer(() -> released(claim));
    }

    private Mono<Ownership> released(LockClaim claim) {
        Reply<Ownership> reply = decide((it, at) -> it.release(claim, at));
        if (reply instanceof Reply.Answer<Ownership> it) {
            return Mono.just(it.answer());
        } else if (reply instanceof Reply.Later<Ownership> later) {
            // It goes on even if its caller is cancelled: the owner no longer uses the lock.
            Mono<Ownership> outcome = later.until()
                    .asMono()
                    .then(Mono.defer(() -> released(claim)))
                    .cache();
            var unused = outcome.subscribe(answer -> {}, error -> {});
            return outcome;
        } else if (!(reply instanceof Reply.Ask<Ownership> ask)) {
            return store.release(claim);
        } else {
            return released(claim.id(), ask);
        }
    }

    private Mono<Ownership> released(String id, Reply.Ask<Ownership> ask) {
        LockClaim withdrawn = ask.tenure().withdrawn();
        Mono<Ownership> released = Mono.defer(() -> store.release(ask.claim()));
        if (withdrawn != null) {
            released = Mono.zipDelayError(store.release(withdrawn), released)
                    .map(Tuple2::getT2)
                    .onErrorMap(Exceptions::isMultiple, TenureBackend::oneOf);
        }
        return released.doOnNext(answer -> {
            synchronized (locks) {
                locks.releaseConfirmed(id);
            }
        });
    }

    /** Returns a transient failure, if there is one: then both requests are sent again. */
    private static Throwable oneOf(Throwable both) {
        List<Throwable> failures = Exceptions.unwrapMultiple(both);
        return failures.stream()
                .filter(it -> it instanceof LockBackendException failure && failure.isTransient())
                .findFirst()
                .orElse(failures.get(0));
    }

    @Override
    public Flux<WatchSignal> watch(LockClaim claim) {
        requireNonNull(claim, "claim");
        return isClosed || !ClaimTable.concerns(claim) ? store.watch(claim) : signals(claim);
    }

    private Flux<WatchSignal> signals(LockClaim claim) {
        return new Flux<>() {
            @Override
            public void subscribe(CoreSubscriber<? super WatchSignal> subscriber) {
                SignalSink sink = new SignalSink(claim.id(), subscriber, TenureBackend.this::unwatched);
                sink.accept(new WatchSignal.Armed());
                boolean isWatched;
                synchronized (locks) {
                    isWatched = locks.watch(claim, sink, now());
                }
                if (isWatched) {
                    sink.handOver();
                } else {
                    store.watch(claim).subscribe(subscriber);
                }
            }
        };
    }

    private void unwatched(SignalSink sink) {
        synchronized (locks) {
            locks.unwatched(sink.claimId(), sink);
        }
    }

    @Override
    public Mono<Void> close() {
        isClosed = true;
        return store.close();
    }

    @Override
    void carryOut(Effect effect, Consumer<Runnable> deliver) {
        if (effect instanceof Effect.Watch watch) {
            watch(watch.tenure());
        } else if (effect instanceof Effect.Unwatch unwatch) {
            unwatch.tenure().watch.dispose();
        } else if (effect instanceof Effect.Reserve reserve) {
            reserve(reserve);
        } else if (effect instanceof Effect.Release release) {
            releaseAlone(release.claim());
        } else if (effect instanceof Effect.Resume resume) {
            deliver.accept(() -> {
                Sinks.EmitResult unused = resume.release().tryEmitEmpty();
            });
        }
    }

    private void watch(Tenure tenure) {
        if (!tenure.watch.isDisposed()) {
            boolean unused = tenure.watch.update(Flux.defer(() -> store.watch(tenure.atStore))
                    .subscribe(
                            signal -> signalled(tenure, signal),
                            stopped -> signalled(tenure, null),
                            () -> signalled(tenure, null)));
        }
        synchronized (locks) {
            tenure.isStarting = false;
        }
    }

    private void signalled(Tenure tenure, @Nullable WatchSignal signal) {
        happensHere((it, at) -> it.signalled(tenure, signal, at));
    }

    private void reserve(Effect.Reserve reserve) {
        var unused = answered(
                        Mono.defer(() -> store.tryAcquire(reserve.claim())),
                        answer -> {
                            reserved(reserve, answer);
                            return answer;
                        },
                        () -> reserved(reserve, null))
                .subscribe(answer -> {}, error -> {});
    }

    private void reserved(Effect.Reserve reserve, @Nullable LockAttempt answer) {
        happensHere((it, at) -> it.reserved(reserve, answer, at));
    }

    private void releaseAlone(LockClaim claim) {
        var unused = Mono.defer(() -> store.release(claim))
                .subscribe(
                        answer -> {},
                        error -> LOG.debug("claim {} was not released, and ends with its lease", claim.id(), error));
    }

    @Override
    public String toString() {
        List<String> kept = contents();
        return "LocalHandOver[%s%s]".formatted(store, kept.isEmpty() ? "" : ", " + kept);
    }
}
