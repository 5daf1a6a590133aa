package io.holdfast.proof.sim;

import io.holdfast.LockLease;
import io.holdfast.ReactiveLock;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;

/** A lock that guards work in a wrong way. */
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

    /** When the work itself is not made, since users' code throws, the lock stays held. */
    static ReactiveLock keepingTheLockWhenItThrows(ReactiveLock real) {
        return new WrongWork(real) {
            @Override
            public <T> Flux<T> withLockMany(Function<? super LockLease, ? extends Publisher<T>> work) {
                return Flux.usingWhen(
                        real.acquire().doOnNext(WrongWork::keep).map(lease -> new Work<>(lease, work.apply(lease))),
                        Work::publisher,
                        it -> it.lease().release());
            }
        };
    }

    /** It is released with the first of several elements. */
    static ReactiveLock releasingWithTheFirstElement(ReactiveLock real) {
        return new WrongWork(real) {
            @Override
            public <T> Flux<T> withLockMany(Function<? super LockLease, ? extends Publisher<T>> work) {
                return real.withLockMany(lease -> Flux.from(work.apply(lease))
                        .concatMap(element -> lease.release().thenReturn(element)));
            }
        };
    }

    private record Work<T>(LockLease lease, Publisher<T> publisher) {}

    private static void keep(LockLease lease) {
        KEPT.add(lease);
        if (KEPT.size() > MOST_KEPT) {
            KEPT.remove();
        }
    }
}
