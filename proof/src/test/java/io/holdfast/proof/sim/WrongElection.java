package io.holdfast.proof.sim;

import io.holdfast.LeaderElection;
import io.holdfast.LockHolder;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.util.retry.Retry;

/** Elections with a mistake in the guard of their terms. */
abstract class WrongElection implements LeaderElection {

    private static final int MOST_KEPT = 100;

    /** What stays reachable stays renewed. */
    private static final Queue<LockLease> KEPT = new ArrayDeque<>();

    private final LeaderElection real;

    private WrongElection(LeaderElection real) {
        this.real = real;
    }

    /** A leader gets its loss too late. */
    static LeaderElection toldLate(LeaderElection real, ReactiveLock lock, Scheduler clock) {
        return new WrongElection(real) {
            @Override
            public <T> Flux<T> lead(Function<? super LockLease, ? extends Publisher<? extends T>> term) {
                return Flux.usingWhen(
                                lock.acquire(),
                                lease -> Flux.<T>from(term.apply(lease)).takeUntilOther(lost(lease)),
                                WrongElection::released)
                        .retryWhen(Retry.indefinitely().filter(error -> error instanceof LockLostException));
            }

            private Mono<Object> lost(LockLease lease) {
                return lease.onLoss()
                        .switchIfEmpty(Mono.never())
                        .delayElement(Duration.ofMillis(100), clock)
                        .flatMap(reason ->
                                Mono.error(new LockLostException(lease.lockName(), reason, lease.fencingToken())));
            }
        };
    }

    /** A term that is cancelled does not release the lock. */
    static LeaderElection keepingTheLock(LeaderElection real, ReactiveLock lock) {
        return new WrongElection(real) {
            @Override
            public <T> Flux<T> lead(Function<? super LockLease, ? extends Publisher<? extends T>> term) {
                return Flux.usingWhen(
                        lock.acquire(),
                        lease -> Flux.from(term.apply(lease)),
                        WrongElection::released,
                        (lease, error) -> released(lease),
                        this::kept);
            }

            private Mono<Void> kept(LockLease lease) {
                KEPT.add(lease);
                if (KEPT.size() > MOST_KEPT) {
                    KEPT.remove();
                }
                return Mono.empty();
            }
        };
    }

    /** This is correct: the mutant is not about lost leases. */
    private static Mono<Void> released(LockLease lease) {
        return lease.release().onErrorComplete();
    }

    @Override
    public String name() {
        return real.name();
    }

    @Override
    public LeaderElection with(LockOptions options) {
        return real.with(options);
    }

    @Override
    public Mono<LockHolder> leader() {
        return real.leader();
    }
}
