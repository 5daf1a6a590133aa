package io.holdfast.zookeeper.internal.client;

import static io.holdfast.zookeeper.internal.client.BackendLog.LOG;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.util.context.Context;

/**
 * Runs one task at a time, in the order in which they came: on the thread that brings the first, since no task takes long and each other
 * thread would have to be woken, and after a while on those of a scheduler. It has no thread and nothing to close.
 */
public final class SerialExecutor {

    /** Then others may have the thread. */
    private static final int MOST_IN_A_ROW = 128;

    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicInteger wanted = new AtomicInteger();
    private final Scheduler threads;

    /** The thread that runs a task now; written by it. Others only compare it with themselves. */
    private volatile @Nullable Thread drainer;

    /** What leaves the executor with the tasks of this turn; null until something does. For the drainer only. */
    private @Nullable Deque<Runnable> onIt;

    public SerialExecutor(Scheduler threads) {
        this.threads = threads;
    }

    /** From any thread, which runs it, and what comes meanwhile, if no other is at it. What leaves the executor does not do so here. */
    public void run(Runnable task) {
        // A queue that is not empty may have an earlier task of this thread, though no task is wanted: see drain.
        if (tasks.isEmpty() && wanted.compareAndSet(0, 1)) {
            departSoon(drain(task));
            return;
        }
        tasks.add(task);
        if (wanted.getAndIncrement() == 0) {
            departSoon(drain(null));
        }
    }

    /** Later. Never, when the threads have ended. */
    public Disposable runAfter(Duration pause, Runnable task) {
        try {
            return threads.schedule(() -> run(task), pause.toNanos(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException schedulerIsDisposed) {
            return Disposables.disposed();
        }
    }

    /** The monotonic time. */
    public long now() {
        return threads.now(TimeUnit.NANOSECONDS);
    }

    /** Subscribes on the executor, unless it was cancelled before that. */
    public <T> Mono<T> defer(Supplier<? extends Mono<T>> source) {
        return Mono.create(sink -> {
            Disposable.Swap running = Disposables.swap();
            sink.onDispose(running);
            run(() -> {
                if (!running.isDisposed()) {
                    boolean unused = running.update(Mono.defer(source)
                            .subscribe(sink::success, sink::error, sink::success, Context.of(sink.contextView())));
                }
            });
        });
    }

    /**
     * Works something out on a thread of the scheduler, and goes on here: for what takes longer than a task may. Fails if that does, however
     * it does; an error of the JVM is seen by the thread's handler too.
     *
     * @param work touches nothing that belongs to the executor
     */
    <T> Mono<T> elsewhere(Supplier<T> work) {
        return Mono.create(sink -> {
            Runnable task = () -> {
                T result;
                try {
                    result = work.get();
                } catch (Throwable bug) {
                    run(() -> sink.error(passable(bug)));
                    Exceptions.throwIfJvmFatal(bug);
                    return;
                }
                run(() -> sink.success(result));
            };
            try {
                Disposable unused = threads.schedule(task);
            } catch (RejectedExecutionException schedulerIsDisposed) {
                task.run();
            }
        });
    }

    /** Reactor's operators throw errors of the JVM instead of passing them on: the request would wait for ever. */
    private static Throwable passable(Throwable bug) {
        return Exceptions.isJvmFatal(bug) ? new IllegalStateException("a task failed: " + bug, bug) : bug;
    }

    /**
     * Passes an answer on outside of the executor: on its threads, but without holding up what is next.
     *
     * @param answer comes on the executor, or fails anywhere
     */
    public <T> Mono<T> outside(Mono<T> answer) {
        return Mono.create(sink -> {
            // One signal for each: several could pass each other.
            Mono<Runnable> signal = answer.<Runnable>map(value -> () -> sink.success(value))
                    .defaultIfEmpty(sink::success)
                    .onErrorResume(error -> Mono.just(() -> sink.error(error)));
            sink.onDispose(signal.subscribe(this::leave, sink::error, () -> {}, Context.of(sink.contextView())));
        });
    }

    /**
     * Runs a signal on the scheduler, after the task that runs now.
     *
     * @param signal may take long
     */
    public void leave(Runnable signal) {
        if (!Thread.currentThread().equals(drainer)) {
            departSoon(signal);
            return;
        }
        Deque<Runnable> leaving = onIt;
        if (leaving == null) {
            leaving = new ArrayDeque<>(1); // seldom more than one leaves in a turn
            onIt = leaving;
        }
        leaving.add(signal);
    }

    private void drainSoon() {
        try {
            Disposable unused = threads.schedule(() -> depart(drain(null)));
        } catch (RejectedExecutionException schedulerIsDisposed) {
            depart(drain(null));
        }
    }

    /**
     * Runs a task for each that is wanted. One that is in the queue and not wanted yet may be run for one behind it, which then stays in the
     * queue until that is made up for.
     *
     * @param first not in the queue; null: the first of the queue
     * @return what leaves the executor; null if nothing does
     */
    private @Nullable Deque<Runnable> drain(@Nullable Runnable first) {
        Deque<Runnable> leaving = null;
        Runnable task = first == null ? tasks.poll() : first;
        for (int done = 0; done < MOST_IN_A_ROW; done++) {
            if (task != null) {
                onIt = leaving;
                drainer = Thread.currentThread();
                try {
                    runSafely(task);
                } catch (Throwable fatal) {
                    abandon();
                    throw fatal;
                }
                leaving = onIt;
                drainer = null;
            }
            if (wanted.decrementAndGet() == 0) {
                return leaving;
            }
            task = done + 1 < MOST_IN_A_ROW ? tasks.poll() : null;
        }
        drainSoon();
        return leaving;
    }

    /** A task failed with an error of the JVM, which this thread passes on to its handler: the rest goes on without it. */
    private void abandon() {
        Deque<Runnable> leaving = onIt;
        drainer = null;
        if (wanted.decrementAndGet() != 0) {
            drainSoon();
        }
        departSoon(leaving);
    }

    /** One here, as this thread is free now, and the others wherever there is room: one that takes long must not hold up the rest. */
    private void depart(@Nullable Deque<Runnable> leaving) {
        Runnable last = leaving == null ? null : leaving.pollLast();
        departSoon(leaving);
        if (last != null) {
            runSafely(last);
        }
    }

    private void departSoon(@Nullable Deque<Runnable> leaving) {
        if (leaving != null) {
            leaving.forEach(this::departSoon);
        }
    }

    private void departSoon(Runnable signal) {
        try {
            Disposable unused = threads.schedule(() -> runSafely(signal));
        } catch (RejectedExecutionException schedulerIsDisposed) {
            runSafely(signal);
        }
    }

    private static void runSafely(Runnable task) {
        try {
            task.run();
        } catch (Throwable bug) {
            Exceptions.throwIfJvmFatal(bug);
            LOG.error("A task of the ZooKeeper back end failed", bug);
        }
    }
}
