package io.holdfast.blocking;

import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/** A lease that a thread has acquired and not closed. Does not keep the lease reachable, so the client finds a dropped one. */
final class Holding<L> extends WeakReference<L> implements HeldByThread.Entry {

    private final HeldByThread held;
    private final BiFunction<L, Context, Context> entered;
    private final AtomicBoolean isClosed = new AtomicBoolean();

    Holding(L lease, HeldByThread held, BiFunction<L, Context, Context> entered) {
        super(lease);
        this.held = held;
        this.entered = entered;
        held.add(this);
    }

    @Override
    public @Nullable Context within(Context outer) {
        L lease = get();
        return lease == null ? null : entered.apply(lease, outer);
    }

    void close(Mono<Void> release) {
        if (isClosed.compareAndSet(false, true)) {
            held.remove(this);
            Answer<Void> end = new Answer<>(Context.empty(), none -> {});
            release.subscribe(end); // goes on by itself if this thread must not wait for it
            if (!MustNotBlock.isHere()) {
                Void unused = end.uninterruptibly();
            }
        }
    }
}
