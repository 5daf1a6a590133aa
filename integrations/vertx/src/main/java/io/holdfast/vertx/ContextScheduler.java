package io.holdfast.vertx;

import static java.util.Objects.requireNonNull;

import io.vertx.core.Context;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.Exceptions;
import reactor.core.scheduler.Scheduler;

/**
 * Runs tasks on a context of Vert.x, so that leases and losses are signalled where a verticle runs:
 *
 * <pre>{@code
 * LockClient locks = LockClient.builder(ZooKeeperVertx.overVertx(manager))
 *         .deliverOn(ContextScheduler.of(vertx.getOrCreateContext()))
 *         .build();
 * }</pre>
 *
 * <p>It delivers and cannot delay: scheduling for later is rejected, as the contract of a {@link Scheduler} that is not capable of time
 * demands. So it is no timer for a client. Tasks run one after the other, in the order in which they came, when the context is that of an
 * event loop. What they throw goes to the context's exception handler.
 *
 * <p>The context is borrowed: {@link #dispose} changes nothing. Thread-safe.
 */
public final class ContextScheduler implements Scheduler {

    private final Context context;

    private ContextScheduler(Context context) {
        this.context = context;
    }

    /**
     * A scheduler over a context.
     *
     * @param context such as that of a verticle; stays the caller's
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
        // Nothing of it is ours.
    }

    @Override
    public boolean isDisposed() {
        return false;
    }

    @Override
    public String toString() {
        return "ContextScheduler[%s]".formatted(context);
    }

    /** Its tasks end with it. */
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
