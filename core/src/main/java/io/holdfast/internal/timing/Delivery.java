package io.holdfast.internal.timing;

import io.holdfast.LockClosedException;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.util.context.Context;

/**
 * The way of signals to users: on the scheduler of {@code deliverOn}, if there is one. If it rejects a signal, the
 * present thread signals: a signal on another thread is better than none. Only a lease is not delivered there.
 */
public final class Delivery {

    private final @Nullable Scheduler scheduler;

    public Delivery(@Nullable Scheduler scheduler) {
        this.scheduler = scheduler;
    }

    public void run(Runnable signal) {
        if (rejection(signal) != null) {
            signal.run();
        }
    }

    /** Returns why the scheduler does not run the signal; null if it does. */
    public @Nullable RejectedExecutionException rejection(Runnable signal) {
        if (scheduler == null) {
            Turn.runUsersCode(signal);
            return null;
        }
        try {
            Disposable unused = scheduler.schedule(signal);
            return null;
        } catch (RejectedExecutionException rejected) {
            return rejected;
        }
    }

    /** Not by {@code publishOn}: if the scheduler rejects a signal, a renewal would fail after its success. */
    public <T> Mono<T> of(Mono<T> answer) {
        return of(answer, this::run);
    }

    public <T> Mono<T> of(Mono<T> answer, Consumer<Runnable> run) {
        if (scheduler == null) {
            return answer;
        }
        return Mono.create(sink -> sink.onDispose(
                answer.materialize() // the subscriber of the sink owns this one
                        .subscribe(
                                signal -> run.accept(() -> {
                                    if (signal.getThrowable() != null) {
                                        sink.error(signal.getThrowable());
                                    } else {
                                        sink.success(signal.get());
                                    }
                                }),
                                sink::error,
                                () -> {},
                                Context.of(sink.contextView()))));
    }

    /** Returns the error for a lease that the scheduler rejected; the lease is released. */
    public RuntimeException refusal(String lockName, RejectedExecutionException rejected) {
        return scheduler != null && scheduler.isDisposed()
                ? new LockClosedException(lockName, "the scheduler given to deliverOn was disposed")
                : new RejectedExecutionException(
                        "lock '%s' was granted and is released again, because the scheduler given to deliverOn rejected the lease: %s; give it more threads or a longer queue"
                                .formatted(lockName, rejected.getMessage()),
                        rejected);
    }
}
