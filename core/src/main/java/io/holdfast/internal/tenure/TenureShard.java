package io.holdfast.internal.tenure;

import io.holdfast.LockBackendException;
import io.holdfast.internal.timing.DeliveryLine;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.SignalSink;
import java.util.List;
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
 * {@link ClaimTable}.
 */
final class TenureShard extends Decider<ClaimTable> {

    private static final Logger LOG = LoggerFactory.getLogger("io.holdfast.LockClient");

    TenureShard(LockBackend store, Scheduler clock, DeliveryLine line, ClaimTable locks) {
        super(store, clock, line, locks);
    }

    @Override
    void carryOut(Effect effect, Consumer<Runnable> deliver) {
        if (effect instanceof Effect.Watch watch) {
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
}
