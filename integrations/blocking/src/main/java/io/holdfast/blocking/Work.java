package io.holdfast.blocking;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.SignalType;
import reactor.util.context.Context;

/**
 * Work on the thread of the caller, as the reactive {@code withLock} sees it: a Mono that begins with the lease, and
 * that the thread ends. The lock is acquired, watched and released by {@code withLock}.
 */
final class Work<L> extends Answer<Void> implements HeldByThread.Entry {

    private final HeldByThread held;
    private final List<Permits> permits;
    private final BiFunction<L, Context, Context> entered;

    /** Opens when the lease is there, or the acquisition has failed. */
    private final CountDownLatch granted = new CountDownLatch(1);

    private volatile @Nullable L lease;
    private volatile @Nullable MonoSink<Void> end;

    // Guarded by the record of the thread.
    boolean isRunning;
    boolean isLost;

    Work(HeldByThread held, List<Permits> permits, BiFunction<L, Context, Context> entered) {
        super(held.context(), none -> {});
        this.held = held;
        this.permits = permits;
        this.entered = entered;
    }

    List<Permits> permits() {
        return permits;
    }

    /** Subscribed to by {@code withLock}, which cancels it when the lease is lost. */
    Mono<Void> under(L granting) {
        return Mono.create(sink -> {
            lease = granting;
            end = sink;
            sink.onCancel(() -> held.lost(this));
            granted.countDown();
        });
    }

    @Override
    protected void hookFinally(SignalType type) {
        super.hookFinally(type);
        granted.countDown();
    }

    /** Waits for the lease; null if the acquisition has failed. */
    @Nullable
    L granted() throws InterruptedException {
        boolean unused = await(granted, Long.MAX_VALUE);
        return lease;
    }

    /** Ends the work for {@code withLock}, which releases the lock then. */
    void end(@Nullable Throwable failure) {
        MonoSink<Void> sink = requireNonNull(end);
        if (failure == null) {
            sink.success();
        } else {
            sink.error(failure);
        }
    }

    @Override
    public Context within(Context outer) {
        return entered.apply(requireNonNull(lease), outer);
    }
}
