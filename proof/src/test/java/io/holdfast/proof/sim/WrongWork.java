package io.holdfast.proof.sim;

import io.holdfast.LockLease;
import io.holdfast.ReactiveLock;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;

/** Locks with a mistake in the guard of the work. */
abstract class WrongWork implements ForwardingLock {

    private static final int MOST_KEPT = 100;

    /** What stays reachable stays renewed. */
    private static final Queue<LockLease> KEPT = new ArrayDeque<>();

    private final ReactiveLock real;

    private WrongWork(ReactiveLock real) {
        this.real = real;
    }

    @Override
    public ReactiveLock real() {
        return real;
    }

    /** Keeps the lock if users' code throws instead of returning the work. */
    static ReactiveLock keepingTheLockWhenItThrows(ReactiveLock real) {
        return new WrongWork(real) {
            @Override
            public <T> Flux<T> withLockMany(Function<? super LockLease, ? extends Publisher<? extends T>> work) {
                return Flux.usingWhen(
                        real.acquire().doOnNext(WrongWork::keep).map(lease -> new Work<T>(lease, work.apply(lease))),
                        Work::publisher,
                        it -> it.lease().release());
            }
        };
    }

    /** Releases the lock with the first of several elements. */
    static ReactiveLock releasingWithTheFirstElement(ReactiveLock real) {
        return new WrongWork(real) {
            @Override
            public <T> Flux<T> withLockMany(Function<? super LockLease, ? extends Publisher<? extends T>> work) {
                return real.withLockMany(lease -> Flux.from(work.apply(lease))
                        .concatMap(element -> lease.release().thenReturn(element)));
            }
        };
    }

    private record Work<T>(LockLease lease, Publisher<? extends T> publisher) {}

    private static void keep(LockLease lease) {
        KEPT.add(lease);
        if (KEPT.size() > MOST_KEPT) {
            KEPT.remove();
        }
    }
}
