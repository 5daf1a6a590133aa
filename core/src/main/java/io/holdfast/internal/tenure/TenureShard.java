package io.holdfast.internal.tenure;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockHolder;
import io.holdfast.internal.run.DeliveryLine;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.SignalSink;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.util.function.Tuple2;

/**
 * Some of the locks of a {@link TenureBackend}: calls the back end for them, and carries out the decisions of
 * {@link ClaimTable}. Its monitor guards the state of the decisions.
 */
final class TenureShard {

    /** A decision about an event. */
    @FunctionalInterface
    private interface Decision<R extends @Nullable Object> {

        R of(ClaimTable locks, long now, List<Effect> out);
    }

    private static final Logger LOG = LoggerFactory.getLogger("io.holdfast.LockClient");

    private final LockBackend store;
    private final Scheduler clock;
    private final DeliveryLine line;
    private final ClaimTable locks;

    TenureShard(LockBackend store, Scheduler clock, DeliveryLine line, ClaimTable locks) {
        this.store = store;
        this.clock = clock;
        this.line = line;
        this.locks = locks;
    }

    /**
     * Decides about a request of a claim of this process. Other claims get their signals on other threads, so that this
     * claim need not wait for their subscribers.
     */
    @CanIgnoreReturnValue
    private <R extends @Nullable Object> R decide(Decision<R> decision) {
        return decide(decision, line::deliver);
    }

    @CanIgnoreReturnValue
    private <R extends @Nullable Object> R decide(Decision<R> decision, Consumer<Runnable> deliver) {
        List<Effect> effects = new ArrayList<>(2);
        R reply;
        synchronized (locks) {
            reply = decision.of(locks, now(), effects);
            enqueue(effects);
        }
        for (Effect effect : effects) {
            carryOut(effect, deliver);
        }
        return reply;
    }

    /** Runs within the monitor, so that signals have the order of the decisions. */
    private void enqueue(List<Effect> effects) {
        for (Effect effect : effects) {
            if (effect instanceof Effect.Push push) {
                push.watch().accept(push.signal());
            }
        }
    }

    private void carryOut(Effect effect, Consumer<Runnable> deliver) {
        if (effect instanceof Effect.Push push) {
            SignalSink watch = (SignalSink) push.watch(); // all watches are SignalSinks, see TenureBackend
            if (watch.isDue()) {
                deliver.accept(watch);
            }
        } else if (effect instanceof Effect.Watch watch) {
            TenureWatch.start(this, store, locks, watch.tenure());
        } else if (effect instanceof Effect.Unwatch unwatch) {
            TenureWatch.stop(locks, unwatch.tenure());
        } else if (effect instanceof Effect.Reserve reserve) {
            reserve(reserve);
        } else if (effect instanceof Effect.Release release) {
            releaseAlone(release.claim());
        } else if (effect instanceof Effect.Resume resume) {
            resume(resume.claim(), deliver);
        }
    }

    Mono<LockAttempt> tryAcquire(LockClaim claim) {
        Reply<LockAttempt> reply = decide((locks, now, out) -> locks.tryAcquire(claim, now, out));
        if (reply instanceof Reply.Answer<LockAttempt> it) {
            return Mono.just(it.answer());
        }
        return reply instanceof Reply.Ask<LockAttempt> ask ? attemptOf(ask, claim.id()) : store.tryAcquire(claim);
    }

    private Mono<LockAttempt> attemptOf(Reply.Ask<LockAttempt> ask, String id) {
        boolean[] isAnswered = new boolean[1];
        return Mono.defer(() -> store.tryAcquire(ask.claim()))
                .map(answer -> {
                    isAnswered[0] = true;
                    return decide((locks, now, out) -> locks.answered(ask, id, answer, now, out));
                })
                .doFinally(end -> {
                    if (!isAnswered[0]) {
                        attemptFailed(ask, id);
                    }
                });
    }

    private void attemptFailed(Reply.Ask<LockAttempt> ask, String id) {
        decide((locks, now, out) -> {
            locks.attemptFailed(ask, id, out); // has no effect if it was answered meanwhile
            return null;
        });
    }

    Mono<Renewal> renew(LockClaim claim) {
        Reply.Ask<Renewal> ask = tenureToRenew(claim);
        if (ask == null) {
            return store.renew(claim);
        }
        long sentAt = now();
        boolean[] isAnswered = new boolean[1];
        return store.renew(ask.claim())
                .doOnNext(answer -> {
                    isAnswered[0] = true;
                    renewed(ask.tenure(), claim.id(), sentAt, answer);
                })
                .doFinally(end -> {
                    if (!isAnswered[0]) {
                        renewalFailed(ask.tenure());
                    }
                });
    }

    Reply.@Nullable Ask<Renewal> tenureToRenew(LockClaim claim) {
        synchronized (locks) {
            return locks.renew(claim, now());
        }
    }

    void renewed(Tenure tenure, String id, long sentAt, Renewal answer) {
        decide((locks, now, out) -> {
            locks.renewed(tenure, id, sentAt, answer, now, out);
            return null;
        });
    }

    void renewalFailed(Tenure tenure) {
        synchronized (locks) {
            tenure.isDoubted = true;
        }
    }

    Mono<Ownership> release(LockClaim claim) {
        AtomicReference<Sinks.One<Mono<Ownership>>> putOff = new AtomicReference<>();
        Reply<Ownership> reply = decide((locks, now, out) -> {
            Reply<Ownership> decided = locks.release(claim, now, out);
            if (decided instanceof Reply.Later<Ownership> later) {
                putOff.set(Sinks.one());
                later.claim().resumeWith(goOn(putOff.get(), claim.id()));
            }
            return decided;
        });
        if (reply instanceof Reply.Later<Ownership>) {
            return putOff.get().asMono().flatMap(outcome -> outcome);
        }
        return reply instanceof Reply.Forward<Ownership> ? store.release(claim) : outcome(reply, claim.id());
    }

    private Mono<Ownership> outcome(Reply<Ownership> reply, String id) {
        if (reply instanceof Reply.Answer<Ownership> it) {
            return Mono.just(it.answer());
        }
        Reply.Ask<Ownership> ask = (Reply.Ask<Ownership>) reply;
        LockClaim withdrawn = ask.tenure().withdrawn();
        Mono<Ownership> released = Mono.defer(() -> store.release(ask.claim()));
        if (withdrawn != null) {
            released = Mono.zipDelayError(store.release(withdrawn), released)
                    .map(Tuple2::getT2)
                    .onErrorMap(Exceptions::isMultiple, TenureShard::oneOf);
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

    /** Continues the release even if its caller was cancelled: the owner no longer uses the lock. */
    private Consumer<Reply<Ownership>> goOn(Sinks.One<Mono<Ownership>> putOff, String id) {
        return reply -> {
            Mono<Ownership> outcome = outcome(reply, id).cache();
            var unused = outcome.subscribe(answer -> {}, error -> {});
            Sinks.EmitResult unusedResult = putOff.tryEmitValue(outcome);
        };
    }

    private void resume(LocalClaim claim, Consumer<Runnable> deliver) {
        Runnable goOn = decide(
                (locks, now, out) -> {
                    Reply<Ownership> reply = locks.resumed(claim, now, out);
                    Consumer<Reply<Ownership>> putOff = reply == null ? null : claim.takeResume();
                    return putOff == null ? null : () -> putOff.accept(reply);
                },
                deliver);
        if (goOn != null) {
            goOn.run();
        }
    }

    void signalled(Tenure tenure, @Nullable WatchSignal signal) {
        decide(
                (locks, now, out) -> {
                    locks.signalled(tenure, signal, now, out);
                    return null;
                },
                line::deliverHere);
    }

    private void reserve(Effect.Reserve reserve) {
        boolean[] isAnswered = new boolean[1];
        var unused = Mono.defer(() -> store.tryAcquire(reserve.claim()))
                .subscribe(
                        answer -> {
                            isAnswered[0] = true;
                            reserved(reserve, answer);
                        },
                        error -> reserved(reserve, null),
                        () -> {
                            if (!isAnswered[0]) {
                                reserved(reserve, null);
                            }
                        });
    }

    private void reserved(Effect.Reserve reserve, @Nullable LockAttempt answer) {
        decide(
                (locks, now, out) -> {
                    locks.reserved(reserve, answer, now, out);
                    return null;
                },
                line::deliverHere);
    }

    private void releaseAlone(LockClaim claim) {
        var unused = Mono.defer(() -> store.release(claim))
                .subscribe(
                        answer -> {},
                        error -> LOG.debug("claim {} was not released, and ends with its lease", claim.id(), error));
    }

    LockHolder holder(String name, LockHolder atStore) {
        synchronized (locks) {
            return locks.holder(name, atStore);
        }
    }

    List<String> contents() {
        synchronized (locks) {
            return locks.contents();
        }
    }

    boolean isWatchedBy(SignalSink sink, LockClaim claim) {
        synchronized (locks) {
            return locks.watch(claim, sink, now());
        }
    }

    void unwatched(SignalSink sink) {
        synchronized (locks) {
            locks.unwatched(sink.claimId(), sink);
        }
    }

    private long now() {
        return clock.now(TimeUnit.NANOSECONDS);
    }
}
