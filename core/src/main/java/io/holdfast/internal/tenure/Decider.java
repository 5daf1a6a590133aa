package io.holdfast.internal.tenure;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockHolder;
import io.holdfast.internal.timing.DeliveryLine;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.ForwardingLockBackend;
import io.holdfast.spi.support.SignalSink;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** Decides about events in a short critical section, under the monitor of the decisions, and acts outside of it. */
abstract class Decider<T extends Decisions> implements ForwardingLockBackend {

    final LockBackend store;
    final Scheduler clock;
    final DeliveryLine line;
    final T locks;

    Decider(LockBackend store, Scheduler clock, T locks) {
        this.store = store;
        this.clock = clock;
        this.locks = locks;
        line = new DeliveryLine(clock);
    }

    @Override
    public final LockBackend delegate() {
        return store;
    }

    /** Acts, for all effects but {@link Effect.Push}. */
    abstract void carryOut(Effect effect, Consumer<Runnable> deliver);

    /** Runs under the monitor after each decision. */
    void decided() {}

    /** Other claims get their signals on other threads: this claim need not wait for their subscribers. */
    @CanIgnoreReturnValue
    final <R extends @Nullable Object> R decide(BiFunction<T, Moment, R> decision) {
        return decide(decision, line::deliver);
    }

    final void happens(BiConsumer<T, Moment> event) {
        happens(event, line::deliver);
    }

    /** An event that the back end signals, on a thread with nothing else to do. */
    final void happensHere(BiConsumer<T, Moment> event) {
        happens(event, line::deliverHere);
    }

    final void happens(BiConsumer<T, Moment> event, Consumer<Runnable> deliver) {
        decide(
                (it, at) -> {
                    event.accept(it, at);
                    return null;
                },
                deliver);
    }

    @CanIgnoreReturnValue
    final <R extends @Nullable Object> R decide(BiFunction<T, Moment, R> decision, Consumer<Runnable> deliver) {
        List<Effect> effects = new ArrayList<>(2);
        R reply;
        synchronized (locks) {
            reply = decision.apply(locks, new Moment(now(), effects));
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

    /** Maps the answer to a request. A request without an answer failed, or was cancelled. */
    static <A> Mono<A> answered(Mono<A> request, Function<A, A> answer, Runnable without) {
        boolean[] isAnswered = new boolean[1];
        return request.map(it -> {
                    A answered = answer.apply(it);
                    isAnswered[0] = true;
                    return answered;
                })
                .doFinally(end -> {
                    if (!isAnswered[0]) {
                        without.run();
                    }
                });
    }

    Reply.@Nullable Ask<Renewal> tenureToRenew(LockClaim claim) {
        synchronized (locks) {
            return locks.renew(claim, now());
        }
    }

    @Override
    public final Mono<Renewal> renew(LockClaim claim) {
        requireNonNull(claim, "claim");
        return Mono.defer(() -> {
            Reply.Ask<Renewal> ask = tenureToRenew(claim);
            long sentAt = now();
            return ask == null
                    ? store.renew(claim)
                    : answered(
                            store.renew(ask.claim()),
                            answer -> renewed(ask.tenure(), claim.id(), sentAt, answer),
                            () -> renewalFailed(ask.tenure()));
        });
    }

    @Override
    public Flux<Renewal> renewAll(List<LockClaim> claims) {
        return Flux.defer(() -> {
            List<LockClaim> asked = new ArrayList<>(claims.size());
            List<@Nullable Tenure> tenures = new ArrayList<>(claims.size());
            for (LockClaim claim : claims) {
                Reply.Ask<Renewal> ask = tenureToRenew(claim);
                asked.add(ask == null ? claim : ask.claim());
                tenures.add(ask == null ? null : ask.tenure());
            }
            long sentAt = now();
            int[] answered = new int[1];
            return store.renewAll(asked)
                    .doOnNext(answer -> {
                        int i = answered[0]++;
                        Tenure tenure = i < tenures.size() ? tenures.get(i) : null;
                        if (tenure != null) {
                            renewed(tenure, claims.get(i).id(), sentAt, answer);
                        }
                    })
                    .doFinally(end -> tenures.stream().skip(answered[0]).forEach(this::renewalFailed));
        });
    }

    @CanIgnoreReturnValue
    private Renewal renewed(Tenure tenure, String id, long sentAt, Renewal answer) {
        happens((it, at) -> it.renewed(tenure, id, sentAt, answer, at));
        return answer;
    }

    private void renewalFailed(@Nullable Tenure tenure) {
        synchronized (locks) {
            if (tenure != null) {
                tenure.isDoubted = true;
            }
        }
    }

    /** Replaces a claim that the back end knows by the claim of this process that holds the lock by a hand-over. */
    @Override
    public final Flux<LockHolder> holders(LockKey key) {
        return store.holders(key).map(atStore -> {
            synchronized (locks) {
                return locks.holder(key, atStore);
            }
        });
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
