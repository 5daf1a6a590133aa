package io.holdfast;

import static java.util.Objects.requireNonNull;

import io.holdfast.internal.handover.Bounds;
import io.holdfast.internal.handover.Effect;
import io.holdfast.internal.handover.HandOvers;
import io.holdfast.internal.handover.Reply;
import io.holdfast.internal.handover.Turn;
import io.holdfast.internal.handover.Waiter;
import io.holdfast.spi.ForwardingLockBackend;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/**
 * The reactive part of {@link LocalHandOver}: asks the store, and carries out what {@link HandOvers} decides. Decides within a short critical
 * section, acts outside of it.
 */
final class HandingOver implements ForwardingLockBackend {

    private static final Logger LOG = LoggerFactory.getLogger("io.holdfast.LockClient");

    /** Locks of different names seldom wait for each other; a power of two. */
    private static final int SHARDS = 16;

    private final LockBackend store;
    private final Scheduler clock;
    private final Shard[] shards = new Shard[SHARDS];

    /** Written once. */
    private volatile boolean isClosed;

    HandingOver(LockBackend store, Bounds bounds, Scheduler clock) {
        this(store, now -> new HandOvers(bounds, now), clock);
    }

    /** With decisions of its own; for tests. */
    HandingOver(LockBackend store, LongFunction<HandOvers> decisions, Scheduler clock) {
        this.store = store;
        this.clock = clock;
        for (int i = 0; i < SHARDS; i++) {
            shards[i] = new Shard(decisions.apply(now()));
        }
    }

    @Override
    public LockBackend delegate() {
        return store;
    }

    private long now() {
        return clock.now(TimeUnit.NANOSECONDS);
    }

    private Shard shard(LockClaim claim) {
        int hash = claim.key().name().hashCode();
        return shards[(hash ^ (hash >>> 16)) & (SHARDS - 1)];
    }

    @Override
    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
        requireNonNull(claim, "claim");
        return isClosed
                ? store.tryAcquire(claim)
                : Mono.defer(() -> shard(claim).look(claim));
    }

    @Override
    public Mono<Renewal> renew(LockClaim claim) {
        requireNonNull(claim, "claim");
        return Mono.defer(() -> shard(claim).renew(claim));
    }

    @Override
    public Mono<Ownership> release(LockClaim claim) {
        requireNonNull(claim, "claim");
        return Mono.defer(() -> shard(claim).release(claim));
    }

    @Override
    public Flux<WatchSignal> watch(LockClaim claim) {
        requireNonNull(claim, "claim");
        return isClosed || !HandOvers.concerns(claim) ? store.watch(claim) : new Signals(shard(claim), claim);
    }

    @Override
    public Flux<Renewal> renewAll(List<LockClaim> claims) {
        return Flux.defer(() -> {
            List<LockClaim> asked = new ArrayList<>(claims.size());
            List<@Nullable Turn> turns = new ArrayList<>(claims.size());
            for (LockClaim claim : claims) {
                Reply.Ask<Renewal> ask = shard(claim).turnToRenew(claim);
                asked.add(ask == null ? claim : ask.claim());
                turns.add(ask == null ? null : ask.turn());
            }
            long sentAt = now();
            int[] answered = new int[1];
            return store.renewAll(asked)
                    .doOnNext(answer -> {
                        int i = answered[0]++;
                        Turn turn = i < turns.size() ? turns.get(i) : null;
                        if (turn != null) {
                            shard(claims.get(i)).renewed(turn, claims.get(i).id(), sentAt, answer);
                        }
                    })
                    .doFinally(end -> {
                        for (int i = answered[0]; i < turns.size(); i++) {
                            Turn turn = turns.get(i);
                            if (turn != null) {
                                shard(claims.get(i)).renewalFailed(turn);
                            }
                        }
                    });
        });
    }

    @Override
    public Mono<Void> close() {
        isClosed = true;
        return store.close();
    }

    @Override
    public String toString() {
        List<String> kept = new ArrayList<>();
        for (Shard shard : shards) {
            kept.addAll(shard.contents());
        }
        return "LocalHandOver[%s%s]".formatted(store, kept.isEmpty() ? "" : ", " + kept);
    }

    /** Some of the locks. Its monitor guards what it decides by. */
    private final class Shard {

        private final HandOvers locks;

        Shard(HandOvers locks) {
            this.locks = locks;
        }

        Mono<LockAttempt> look(LockClaim claim) {
            List<Effect> effects = new ArrayList<>(2);
            Reply<LockAttempt> reply;
            synchronized (locks) {
                reply = locks.look(claim, now(), effects);
            }
            carryOut(effects);
            if (reply instanceof Reply.Answer<LockAttempt> it) {
                return Mono.just(it.answer());
            }
            return reply instanceof Reply.Ask<LockAttempt> ask ? lookOf(ask, claim.id()) : store.tryAcquire(claim);
        }

        private Mono<LockAttempt> lookOf(Reply.Ask<LockAttempt> ask, String id) {
            return Mono.defer(() -> store.tryAcquire(ask.claim()))
                    .map(answer -> looked(ask, id, answer))
                    .doFinally(end -> {
                        List<Effect> effects = new ArrayList<>(1);
                        synchronized (locks) {
                            locks.lookFailed(ask, id, effects); // does nothing if it was answered
                        }
                        carryOut(effects);
                    });
        }

        private LockAttempt looked(Reply.Ask<LockAttempt> ask, String id, LockAttempt answer) {
            List<Effect> effects = new ArrayList<>(2);
            LockAttempt own;
            synchronized (locks) {
                own = locks.looked(ask, id, answer, now(), effects);
            }
            carryOut(effects);
            return own;
        }

        Mono<Renewal> renew(LockClaim claim) {
            Reply.Ask<Renewal> ask = turnToRenew(claim);
            if (ask == null) {
                return store.renew(claim);
            }
            long sentAt = now();
            boolean[] isAnswered = new boolean[1];
            return store.renew(ask.claim())
                    .doOnNext(answer -> {
                        isAnswered[0] = true;
                        renewed(ask.turn(), claim.id(), sentAt, answer);
                    })
                    .doFinally(end -> {
                        if (!isAnswered[0]) {
                            renewalFailed(ask.turn());
                        }
                    });
        }

        Reply.@Nullable Ask<Renewal> turnToRenew(LockClaim claim) {
            synchronized (locks) {
                return locks.renew(claim);
            }
        }

        void renewed(Turn turn, String id, long sentAt, Renewal answer) {
            List<Effect> effects = new ArrayList<>(1);
            synchronized (locks) {
                locks.renewed(turn, id, sentAt, answer, now(), effects);
            }
            carryOut(effects);
        }

        void renewalFailed(Turn turn) {
            synchronized (locks) {
                locks.renewalFailed(turn);
            }
        }

        Mono<Ownership> release(LockClaim claim) {
            List<Effect> effects = new ArrayList<>(2);
            Reply<Ownership> reply;
            Sinks.One<Mono<Ownership>> putOff = null;
            synchronized (locks) {
                reply = locks.release(claim, now(), effects);
                if (reply instanceof Reply.Later<Ownership> later) {
                    putOff = Sinks.one();
                    later.waiter().resumeWith(goOn(putOff, claim.id()));
                }
            }
            carryOut(effects);
            if (putOff != null) {
                return putOff.asMono().flatMap(outcome -> outcome);
            }
            return reply instanceof Reply.Forward<Ownership> ? store.release(claim) : outcome(reply, claim.id());
        }

        private Mono<Ownership> outcome(Reply<Ownership> reply, String id) {
            if (reply instanceof Reply.Answer<Ownership> it) {
                return Mono.just(it.answer());
            }
            LockClaim released = ((Reply.Ask<Ownership>) reply).claim();
            return Mono.defer(() -> store.release(released)).doOnNext(answer -> {
                synchronized (locks) {
                    locks.releaseConfirmed(id);
                }
            });
        }

        /** Also when the one who asked does not wait any more: the owner is done. */
        private Consumer<Reply<Ownership>> goOn(Sinks.One<Mono<Ownership>> putOff, String id) {
            return reply -> {
                Mono<Ownership> outcome = outcome(reply, id).cache();
                var unused = outcome.subscribe(answer -> {}, error -> {});
                Sinks.EmitResult unusedResult = putOff.tryEmitValue(outcome);
            };
        }

        private void resume(Waiter waiter) {
            List<Effect> effects = new ArrayList<>(2);
            Reply<Ownership> reply;
            Consumer<Reply<Ownership>> goOn;
            synchronized (locks) {
                reply = locks.resumed(waiter, now(), effects);
                goOn = reply == null ? null : waiter.takeResume();
            }
            carryOut(effects);
            if (goOn != null) {
                goOn.accept(requireNonNull(reply));
            }
        }

        private void signalled(Turn turn, @Nullable WatchSignal signal) {
            List<Effect> effects = new ArrayList<>(2);
            synchronized (locks) {
                locks.signalled(turn, signal, now(), effects);
            }
            carryOut(effects);
        }

        private void carryOut(List<Effect> effects) {
            for (Effect effect : effects) {
                carryOut(effect);
            }
        }

        private void carryOut(Effect effect) {
            if (effect instanceof Effect.Push push) {
                Trampoline.run(() -> push(push));
            } else if (effect instanceof Effect.Watch watch) {
                watch(watch.turn());
            } else if (effect instanceof Effect.Unwatch unwatch) {
                unwatch(unwatch.turn());
            } else if (effect instanceof Effect.Reserve reserve) {
                reserve(reserve);
            } else if (effect instanceof Effect.Release release) {
                releaseAlone(release.claim());
            } else if (effect instanceof Effect.Resume resume) {
                resume(resume.waiter());
            }
        }

        private void push(Effect.Push push) {
            var watch = push.waiter().watch();
            if (watch != null) {
                watch.accept(push.signal());
            }
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
            List<Effect> effects = new ArrayList<>(2);
            synchronized (locks) {
                locks.reserved(reserve, answer, now(), effects);
            }
            carryOut(effects);
        }

        private void releaseAlone(LockClaim claim) {
            var unused = Mono.defer(() -> store.release(claim))
                    .subscribe(
                            answer -> {},
                            error ->
                                    LOG.debug("claim {} was not released, and ends with its lease", claim.id(), error));
        }

        private void watch(Turn turn) {
            TurnWatch watch = new TurnWatch(this, turn);
            boolean isWanted;
            synchronized (locks) {
                isWanted = turn.watchedBy(watch::dispose);
            }
            if (isWanted) {
                Flux.defer(() -> store.watch(turn.watched())).subscribe(watch);
            }
            synchronized (locks) {
                locks.watching(turn);
            }
        }

        private void unwatch(Turn turn) {
            Runnable watch;
            synchronized (locks) {
                watch = turn.unwatch();
            }
            if (watch != null) {
                watch.run();
            }
        }

        List<String> contents() {
            synchronized (locks) {
                return locks.contents();
            }
        }

        @Nullable
        Waiter watched(LockClaim claim, SignalSink sink) {
            synchronized (locks) {
                return locks.watch(claim, sink, now());
            }
        }

        void unwatched(Waiter waiter, SignalSink sink) {
            synchronized (locks) {
                locks.unwatched(waiter, sink);
            }
        }
    }

    /** The signals of a claim of this process. */
    private final class Signals extends Flux<WatchSignal> {

        private final Shard shard;
        private final LockClaim claim;

        Signals(Shard shard, LockClaim claim) {
            this.shard = shard;
            this.claim = claim;
        }

        @Override
        public void subscribe(CoreSubscriber<? super WatchSignal> subscriber) {
            AtomicReference<Waiter> watched = new AtomicReference<>();
            SignalSink sink = new SignalSink(subscriber, cancelled -> {
                Waiter waiter = watched.get();
                if (waiter != null) {
                    shard.unwatched(waiter, cancelled);
                }
            });
            Waiter waiter = shard.watched(claim, sink);
            if (waiter == null) {
                store.watch(claim).subscribe(subscriber);
            } else {
                watched.set(waiter);
                subscriber.onSubscribe(sink);
            }
        }
    }

    /** The signals of a turn's claim. */
    private static final class TurnWatch extends BaseSubscriber<WatchSignal> {

        private final Shard shard;
        private final Turn turn;

        TurnWatch(Shard shard, Turn turn) {
            this.shard = shard;
            this.turn = turn;
        }

        @Override
        protected void hookOnNext(WatchSignal signal) {
            shard.signalled(turn, signal);
        }

        @Override
        protected void hookOnError(Throwable stopped) {
            shard.signalled(turn, null);
        }

        @Override
        protected void hookOnComplete() {
            shard.signalled(turn, null);
        }
    }
}
