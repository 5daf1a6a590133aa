package io.holdfast.internal.tenure;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockHolder;
import io.holdfast.internal.timing.DeliveryLine;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.SignalSink;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * Decides about events in a short critical section, and acts outside of it. The monitor of the decisions guards their
 * state.
 */
abstract class Decider<T extends Decisions> {

    /** A decision about an event. */
    @FunctionalInterface
    interface Decision<T, R extends @Nullable Object> {

        R of(T locks, long now, List<Effect> out);
    }

    final LockBackend store;
    final Scheduler clock;
    final DeliveryLine line;
    final T locks;

    Decider(LockBackend store, Scheduler clock, DeliveryLine line, T locks) {
        this.store = store;
        this.clock = clock;
        this.line = line;
        this.locks = locks;
    }

    /** Acts, for all effects but {@link Effect.Push}. */
    abstract void carryOut(Effect effect, Consumer<Runnable> deliver);

    /** Runs under the monitor after each decision. */
    void decided() {}

    /**
     * Decides about a request of a claim of this process. Other claims get their signals on other threads, so that this
     * claim need not wait for their subscribers.
     */
    @CanIgnoreReturnValue
    final <R extends @Nullable Object> R decide(Decision<T, R> decision) {
        return decide(decision, line::deliver);
    }

    @CanIgnoreReturnValue
    final <R extends @Nullable Object> R decide(Decision<T, R> decision, Consumer<Runnable> deliver) {
        List<Effect> effects = new ArrayList<>(2);
        R reply;
        synchronized (locks) {
            reply = decision.of(locks, now(), effects);
            decided();
            for (Effect effect : effects) { // so that signals have the order of the decisions
                if (effect instanceof Effect.Push push) {
                    push.watch().accept(push.signal());
                }
            }
        }
        for (Effect effect : effects) {
            if (effect instanceof Effect.Push push) {
                SignalSink queue = queue(push.watch());
                if (queue.isDue()) {
                    deliver.accept(queue);
                }
            } else {
                carryOut(effect, deliver);
            }
        }
        return reply;
    }

    private static SignalSink queue(Consumer<WatchSignal> watch) {
        return watch instanceof MemberWatch member ? member.queue() : (SignalSink) watch;
    }

    Reply.@Nullable Ask<Renewal> tenureToRenew(LockClaim claim) {
        synchronized (locks) {
            return locks.renew(claim, now());
        }
    }

    final Mono<Renewal> renewTenure(LockClaim claim) {
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

    /** Renews claims together. Each of them has a decider. */
    static Flux<Renewal> renewAll(LockBackend store, List<LockClaim> claims, Function<LockClaim, Decider<?>> deciders) {
        List<LockClaim> asked = new ArrayList<>(claims.size());
        List<@Nullable Tenure> tenures = new ArrayList<>(claims.size());
        for (LockClaim claim : claims) {
            Reply.Ask<Renewal> ask = deciders.apply(claim).tenureToRenew(claim);
            asked.add(ask == null ? claim : ask.claim());
            tenures.add(ask == null ? null : ask.tenure());
        }
        long sentAt = claims.isEmpty() ? 0 : deciders.apply(claims.get(0)).now();
        int[] answered = new int[1];
        return store.renewAll(asked)
                .doOnNext(answer -> {
                    int i = answered[0]++;
                    Tenure tenure = i < tenures.size() ? tenures.get(i) : null;
                    if (tenure != null) {
                        LockClaim claim = claims.get(i);
                        deciders.apply(claim).renewed(tenure, claim.id(), sentAt, answer);
                    }
                })
                .doFinally(end -> {
                    for (int i = answered[0]; i < tenures.size(); i++) {
                        Tenure tenure = tenures.get(i);
                        if (tenure != null) {
                            deciders.apply(claims.get(i)).renewalFailed(tenure);
                        }
                    }
                });
    }

    private void renewed(Tenure tenure, String id, long sentAt, Renewal answer) {
        decide((it, now, out) -> {
            it.renewed(tenure, id, sentAt, answer, now, out);
            return null;
        });
    }

    private void renewalFailed(Tenure tenure) {
        synchronized (locks) {
            tenure.isDoubted = true;
        }
    }

    final LockHolder holder(String name, LockHolder atStore) {
        synchronized (locks) {
            return locks.holder(name, atStore);
        }
    }

    final List<String> contents() {
        synchronized (locks) {
            return locks.contents();
        }
    }

    final long now() {
        return clock.now(TimeUnit.NANOSECONDS);
    }
}
