package io.holdfast.internal.tenure;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockBackendException;
import io.holdfast.LockKind;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockAttempt.AcquiredRun;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockRun;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.util.context.Context;
import reactor.util.retry.Retry;

/** The reactive part of {@link RunTable}. A claim that is in no run goes to the back end as it is. */
public final class StoreFedBackend extends Decider<RunTable> {

    private static final Logger LOG = LoggerFactory.getLogger("io.holdfast.LockClient");

    private static final int MOST_REPEATS = 20;
    private static final Duration FIRST_PAUSE = Duration.ofMillis(10);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    /** The longest time for a request about claims of this lease duration. */
    private final UnaryOperator<Duration> timeLimit;

    /** Whether no claim has been in a run since all of them ended. Written under the monitor. */
    private volatile boolean isIdle = true;

    /** Takes a factory of the decisions, for tests with wrong ones. */
    StoreFedBackend(
            LockBackend store, Scheduler clock, UnaryOperator<Duration> timeLimit, LongFunction<RunTable> decisions) {
        super(store, clock, decisions.apply(clock.now(TimeUnit.NANOSECONDS)));
        this.timeLimit = timeLimit;
    }

    /** Returns the back end itself if it grants no runs. */
    public static LockBackend inFrontOf(LockBackend store, Scheduler clock, UnaryOperator<Duration> timeLimit) {
        return store.features().contains(LockFeature.RUNS)
                ? new StoreFedBackend(store, clock, timeLimit, RunTable::new)
                : store;
    }

    @Override
    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
        requireNonNull(claim, "claim");
        if (claim.client().isEmpty()) {
            return store.tryAcquire(claim);
        }
        boolean isDowngrade = isReader(claim) && claim.waiting() == Waiting.NONE;
        return isDowngrade ? downgrade(claim) : new Attempt(claim, locks.watches.get(claim.id()));
    }

    private Mono<LockAttempt> downgrade(LockClaim claim) {
        return Mono.defer(() -> {
            LockClaim sent = decide((it, at) -> it.downgrade(claim, at));
            return sent == null
                    ? Mono.just(new LockAttempt.Contended(claim.lease()))
                    : store.tryAcquire(sent)
                            .doOnNext(answer -> answeredAlone(claim, answer instanceof LockAttempt.Acquired));
        });
    }

    private void answeredAlone(LockClaim claim, boolean isHeld) {
        happens((it, at) -> it.answeredAlone(claim.id(), isHeld, at));
    }

    /** A reader is no member of a run, but its grant shows that runs before it are over. */
    private static boolean isReader(LockClaim claim) {
        return claim.key().kind() == LockKind.READ;
    }

    private @Nullable Tenure attempts(@Nullable MemberWatch watch, LockClaim claim, long sentAt) {
        synchronized (locks) {
            Tenure owned = locks.attempts(claim.id());
            if (owned == null && watch != null) {
                watch.attempted(claim.attempt(), sentAt);
            }
            return owned;
        }
    }

    private LockAttempt answered(LockClaim claim, @Nullable MemberWatch watch, LockAttempt answer, long sentAt) {
        if (watch != null) {
            watch.lastAnswered = claim.attempt();
        }
        if (answer instanceof LockAttempt.Acquired alone) {
            boolean mayHaveBeenAMember = watch != null && claim.attempt() > 1;
            grantedAlone(claim, mayHaveBeenAMember, alone.fencingToken(), line::deliver);
        }
        return answer instanceof AcquiredRun run ? decide((it, at) -> it.answered(claim, run, sentAt, at)) : answer;
    }

    private void grantedAlone(LockClaim claim, boolean mayHaveBeenAMember, long token, Consumer<Runnable> deliver) {
        if (mayHaveBeenAMember || !isIdle) {
            happens((it, at) -> it.grantedAlone(claim, mayHaveBeenAMember, token, at), deliver);
        }
    }

    @Override
    public Flux<WatchSignal> watch(LockClaim claim) {
        requireNonNull(claim, "claim");
        return claim.client().isEmpty() ? store.watch(claim) : new MemberWatch(this, claim);
    }

    void open(MemberWatch watch) {
        if (!isReader(watch.claim)) {
            locks.watches.put(watch.claim.id(), watch);
        }
        try {
            store.watch(watch.claim).subscribe((CoreSubscriber<WatchSignal>) watch);
        } catch (RuntimeException thrown) {
            closed(watch);
            throw thrown;
        }
    }

    @Override
    Reply.@Nullable Ask<Renewal> tenureToRenew(LockClaim claim) {
        return isIdle ? null : super.tenureToRenew(claim);
    }

    @Override
    public Flux<Renewal> renewAll(List<LockClaim> claims) {
        return isIdle ? store.renewAll(claims) : super.renewAll(claims);
    }

    @Override
    public Mono<Renewal> adopt(LockClaim claim, long fencingToken) {
        return Mono.defer(() -> {
            decide((it, at) -> it.goesOnAlone(claim.id(), at));
            return store.adopt(claim, fencingToken)
                    .doOnNext(answer -> answeredAlone(claim, answer instanceof Renewal.Held));
        });
    }

    @Override
    public Mono<Ownership> release(LockClaim claim) {
        requireNonNull(claim, "claim");
        // An adopted claim may be a member without its client.
        boolean wasInNoRun = isIdle && (claim.client().isEmpty() || isReader(claim));
        return wasInNoRun || !leaves(claim) ? store.release(claim) : releaseOfARun(claim);
    }

    private boolean leaves(LockClaim claim) {
        MemberWatch watch = locks.watches.get(claim.id());
        synchronized (locks) {
            if (watch != null) {
                watch.leave();
            }
            return locks.claims.containsKey(claim.id());
        }
    }

    private Mono<Ownership> releaseOfARun(LockClaim claim) {
        Reply<Ownership> reply = decide((it, at) -> it.release(claim, at));
        if (reply instanceof Reply.Answer<Ownership> it) {
            return Mono.just(it.answer());
        }
        Mono<Ownership> released;
        if (reply instanceof Reply.Ask<Ownership> ask) {
            released = endOfRun(ask.tenure());
        } else if (reply instanceof Reply.ForwardThenAsk<Ownership> both) {
            // If its request to go on alone comes first, it has ended the run; if later, the release has made it void.
            released = store.release(claim).flatMap(answer -> {
                happens((it, at) -> it.releasedAlone(claim.id()));
                return answer == Ownership.HELD ? Mono.just(answer) : endOfRun(both.tenure());
            });
        } else {
            return store.release(claim);
        }
        return released.doOnNext(ownership -> happens((it, at) -> it.releaseConfirmed(claim, at)));
    }

    private Mono<Ownership> endOfRun(Tenure tenure) {
        return end(tenure, ((StoreFed) tenure.of).served()).map(LockRun.End::ownership);
    }

    private Mono<LockRun.End> end(Tenure tenure, int served) {
        return Mono.defer(() -> {
            long sentAt = now();
            LockClaim claim = tenure.claim();
            return store.endRun(claim, ((StoreFed) tenure.of).lockRun.number(), served)
                    .doOnNext(end -> end.next()
                            .ifPresent(next -> happens((it, at) -> it.grantedInAnAnswer(claim, next, sentAt, at))));
        });
    }

    boolean signalled(MemberWatch watch, WatchSignal signal) {
        if (signal instanceof WatchSignal.Granted alone) {
            grantedAlone(watch.claim, !isReader(watch.claim), alone.fencingToken(), line::deliverHere);
            return false;
        }
        return decide((it, at) -> it.signalled(watch, signal, at), line::deliverHere);
    }

    void closed(MemberWatch watch) {
        locks.watches.remove(watch.claim.id(), watch);
    }

    @Override
    void decided() {
        isIdle = locks.claims.isEmpty();
    }

    @Override
    void carryOut(Effect effect, Consumer<Runnable> deliver) {
        if (effect instanceof Effect.EndRun ends) {
            inBackground(ends.tenure().atStore, end(ends.tenure(), ends.served()));
        } else if (effect instanceof Effect.Release release) {
            inBackground(release.claim(), Mono.defer(() -> store.release(release.claim())));
        }
    }

    /** No claim waits for the answer, and the lock may wait for the request. */
    private void inBackground(LockClaim claim, Mono<?> request) {
        var unused = request.timeout(timeLimit.apply(claim.lease()), clock)
                .retryWhen(Retry.backoff(MOST_REPEATS, FIRST_PAUSE)
                        .maxBackoff(LONGEST_PAUSE)
                        .jitter(0)
                        .filter(error -> error instanceof TimeoutException
                                || (error instanceof LockBackendException failure && failure.isTransient()))
                        .scheduler(clock))
                .subscribe(
                        answer -> {},
                        error -> LOG.debug(
                                "claim {} or its run was not ended, and ends with its lease", claim.id(), error));
    }

    @Override
    public String toString() {
        List<String> kept = contents();
        return kept.isEmpty() ? store.toString() : "%s, %s".formatted(store, kept);
    }

    /** An attempt of a claim that may be part of a run, with one subscription. Passes on the answer for the claim. */
    private final class Attempt extends Mono<LockAttempt> implements CoreSubscriber<LockAttempt> {

        private final LockClaim claim;
        private final @Nullable MemberWatch watch;
        private long sentAtNanos;
        /** Written by the only subscription. */
        @SuppressWarnings("NullAway.Init")
        private CoreSubscriber<? super LockAttempt> subscriber;

        Attempt(LockClaim claim, @Nullable MemberWatch watch) {
            this.claim = claim;
            this.watch = watch;
        }

        @Override
        public void subscribe(CoreSubscriber<? super LockAttempt> actual) {
            subscriber = actual;
            if (isReader(claim)) {
                store.tryAcquire(claim).subscribe((CoreSubscriber<LockAttempt>) this);
                return;
            }
            long sentAt = now();
            sentAtNanos = sentAt;
            Tenure owned = attempts(watch, claim, sentAt);
            if (owned != null) {
                store.renew(owned.claim().withLease(claim.lease()))
                        .map(answer -> decide((it, at) -> it.confirmed(owned, claim, sentAt, answer, at)))
                        .subscribe(actual);
            } else if (watch == null || !watch.isOpen()) {
                // No run could tell it that its turn has come.
                store.tryAcquire(claim.withClient("")).subscribe((CoreSubscriber<LockAttempt>) this);
            } else {
                store.tryAcquire(claim).subscribe((CoreSubscriber<LockAttempt>) this);
            }
        }

        @Override
        public Context currentContext() {
            return subscriber.currentContext();
        }

        @Override
        public void onSubscribe(Subscription s) {
            subscriber.onSubscribe(s);
        }

        @Override
        public void onNext(LockAttempt answer) {
            subscriber.onNext(answered(claim, watch, answer, sentAtNanos));
        }

        @Override
        public void onError(Throwable error) {
            if (watch != null && error instanceof LockBackendException failure && !failure.isUnderWay()) {
                watch.lastAnswered = claim.attempt();
            }
            subscriber.onError(error);
        }

        @Override
        public void onComplete() {
            subscriber.onComplete();
        }
    }
}
