package io.holdfast.proof.sim;

import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.MultiLease;
import io.holdfast.ReactiveLock;
import io.holdfast.ReactiveMultiLock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Acquisitions of several locks with a mistake in the guard of the work. */
abstract class WrongMultiLock implements ReactiveMultiLock {

    private static final int MOST_KEPT = 100;

    /** What stays reachable stays renewed. */
    private static final Queue<MultiLease> KEPT = new ArrayDeque<>();

    private final ReactiveMultiLock real;

    private WrongMultiLock(ReactiveMultiLock real) {
        this.real = real;
    }

    /** Nests one {@code withLock} in the other, in the given order. */
    static ReactiveMultiLock inTheOrderGiven(ReactiveMultiLock real, List<ReactiveLock> given) {
        return new WrongMultiLock(real) {
            @Override
            public <T> Mono<T> withLock(Function<? super MultiLease, ? extends Mono<? extends T>> work) {
                return nested(List.of(), work);
            }

            private <T> Mono<T> nested(
                    List<LockLease> held, Function<? super MultiLease, ? extends Mono<? extends T>> work) {
                return held.size() == given.size()
                        ? work.apply(new Leases(held)).<T>map(it -> it)
                        : given.get(held.size()).withLock(lease -> nested(with(held, lease), work));
            }

            private List<LockLease> with(List<LockLease> held, LockLease next) {
                List<LockLease> all = new ArrayList<>(held);
                all.add(next);
                return all;
            }
        };
    }

    /** After a loss, cancels the work, but keeps the other locks. */
    static ReactiveMultiLock keepingTheOthersAfterALoss(ReactiveMultiLock real) {
        return new WrongMultiLock(real) {
            @Override
            public <T> Mono<T> withLock(Function<? super MultiLease, ? extends Mono<? extends T>> work) {
                return Mono.usingWhen(
                        real.acquire(),
                        leases -> Mono.firstWithSignal(
                                work.apply(leases),
                                leases.onLoss()
                                        .switchIfEmpty(Mono.never())
                                        .flatMap(lost -> lost.onLoss()
                                                .flatMap(reason -> Mono.error(new LockLostException(
                                                        lost.lockName(), reason, lost.fencingToken()))))),
                        leases -> leases.isValid() ? leases.release() : kept(leases));
            }

            private Mono<Void> kept(MultiLease leases) {
                KEPT.add(leases);
                if (KEPT.size() > MOST_KEPT) {
                    KEPT.remove();
                }
                return Mono.empty();
            }
        };
    }

    @Override
    public List<String> names() {
        return real.names();
    }

    @Override
    public ReactiveMultiLock with(LockOptions options) {
        return real.with(options);
    }

    @Override
    public Mono<MultiLease> tryAcquire() {
        return real.tryAcquire();
    }

    @Override
    public Mono<MultiLease> acquire() {
        return real.acquire();
    }

    @Override
    public <T> Mono<T> withLock(Mono<? extends T> work) {
        return withLock(leases -> work);
    }

    @Override
    public <T> Flux<T> withLockMany(Function<? super MultiLease, ? extends Publisher<? extends T>> work) {
        return real.withLockMany(work);
    }

    /** Of a nest of locks. */
    private record Leases(List<LockLease> leases) implements MultiLease {

        @Override
        public LockLease lease(String lockName) {
            return leases.stream()
                    .filter(it -> it.lockName().equals(lockName))
                    .findFirst()
                    .orElseThrow();
        }

        @Override
        public boolean isValid() {
            return leases.stream().allMatch(LockLease::isValid);
        }

        @Override
        public Duration remaining() {
            return leases.stream()
                    .map(LockLease::remaining)
                    .min(Duration::compareTo)
                    .orElseThrow();
        }

        @Override
        public Mono<LockLease> onLoss() {
            return Mono.never();
        }

        @Override
        public Mono<Void> release() {
            return Mono.when(leases.stream().map(LockLease::release).toList());
        }
    }
}
