package io.holdfast.vertx;

import static java.util.Objects.requireNonNull;

import io.vertx.core.Context;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.Exceptions;
import reactor.core.scheduler.Scheduler;

/**
 * Runs tasks on a context of Vert.x, so that leases and losses are signalled on the context of a verticle:
 *
 * <pre>{@code
 * LockClient locks = LockClient.builder(ZooKeeperVertx.overVertx(manager))
 *         .deliverOn(ContextScheduler.of(vertx.getOrCreateContext()))
 *         .build();
 * }</pre>
 *
 * <p>It cannot delay tasks: scheduling for later is rejected, as the contract of a {@link Scheduler} without time support requires. So it
 * cannot be the timer of a client. On an event-loop context, tasks run one after another, in the order of arrival. The context's exception
 * handler gets their exceptions.
 *
 * <p>The context is borrowed, so {@link #dispose} does nothing. Thread-safe.
 */
public final class ContextScheduler implements Scheduler {

    private final Context context;

    private ContextScheduler(Context context) {
        this.context = context;
    }

    /**
     * Returns a scheduler that uses a context.
     *
     * @param context a context, such as that of a verticle
     * @return a scheduler without resources of its own
     */
    public static ContextScheduler of(Context context) {
        return new ContextScheduler(requireNonNull(context, "context"));
    }

    @Override
    public Disposable schedule(Runnable task) {
        requireNonNull(task, "task");
        Disposable wanted = Disposables.single();
        context.runOnContext(unused -> {
            if (!wanted.isDisposed()) {
                task.run();
            }
        });
        return wanted;
    }

    @Override
    public Worker createWorker() {
        return new ContextWorker();
    }

    @Override
    public void dispose() {
        // There are no resources to dispose.
    }

    @Override
    public boolean isDisposed() {
        return false;
    }

    @Override
    public String toString() {
        return "ContextScheduler[%s]".formatted(context);
    }

    /** A worker whose tasks end when it is disposed. */
    private final class ContextWorker implements Worker {

        private final Disposable end = Disposables.single();

        @Override
        public Disposable schedule(Runnable task) {
            if (end.isDisposed()) {
                throw Exceptions.failWithRejected();
            }
            return ContextScheduler.this.schedule(() -> {
                if (!end.isDisposed()) {
                    task.run();
                }
            });
        }

        @Override
        public void dispose() {
            end.dispose();
        }

        @Override
        public boolean isDisposed() {
            return end.isDisposed();
        }
    }
}
