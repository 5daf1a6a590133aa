package io.holdfast.zookeeper.internal.client;

import static io.holdfast.zookeeper.internal.client.BackendLog.LOG;

import io.holdfast.spi.support.Fallible;
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
 * Runs one task at a time, in the order of arrival. Tasks run on the thread that brings the first one, since no task takes long and waking
 * another thread costs time. After a while they move to the threads of a scheduler. The executor has no thread of its own and nothing to
 * close.
 */
public final class SerialExecutor {

    /** After so many tasks, the executor gives the thread back. */
    private static final int MOST_IN_A_ROW = 128;

    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicInteger wanted = new AtomicInteger();
    private final Scheduler threads;

    /** The thread that runs a task now. Only that thread writes it; other threads only compare it with themselves. */
    private volatile @Nullable Thread drainer;

    /** The signals that leave the executor in this turn; null while there is none. Only the drainer uses it. */
    private @Nullable Deque<Runnable> onIt;

    public SerialExecutor(Scheduler threads) {
        this.threads = threads;
    }

    /**
     * Runs the task. If no other thread is at work, the calling thread runs it, and the tasks that arrive meanwhile. Signals that leave the
     * executor run on other threads.
     */
    public void run(Runnable task) {
        // Although no task is wanted, a queue that is not empty may contain an earlier task of this thread: see drain.
        if (tasks.isEmpty() && wanted.compareAndSet(0, 1)) {
            departSoon(drain(task));
            return;
        }
        tasks.add(task);
        if (wanted.getAndIncrement() == 0) {
            departSoon(drain(null));
        }
    }

    /** Runs the task after the pause, or never if the scheduler is disposed. */
    public Disposable runAfter(Duration pause, Runnable task) {
        try {
            return threads.schedule(() -> run(task), pause.toNanos(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException schedulerIsDisposed) {
            return Disposables.disposed();
        }
    }

    /** Returns the monotonic time. */
    public long now() {
        return threads.now(TimeUnit.NANOSECONDS);
    }

    /** Subscribes on the executor, unless the subscriber cancels before that. */
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
     * Computes a value on a thread of the scheduler, and continues on the executor: for work that takes longer than a task may. Fails if
     * the work fails in any way. The thread's handler also sees an error of the JVM.
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
                    run(() -> sink.error(Fallible.passable(bug)));
                    Exceptions.throwIfJvmFatal(bug);
                    return;
                }
                run(() -> sink.success(result));
            };
            runElsewhere(task);
        });
    }

    private void runElsewhere(Runnable task) {
        try {
            Disposable unused = threads.schedule(task);
        } catch (RejectedExecutionException schedulerIsDisposed) {
            task.run();
        }
    }

    /**
     * Emits an answer outside of the executor: on its threads, but without delaying the next task.
     *
     * @param answer emits on the executor, or fails on any thread
     */
    public <T> Mono<T> outside(Mono<T> answer) {
        return Mono.create(sink -> {
            // One runnable for each signal: separate signals could overtake each other.
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
            leaving = new ArrayDeque<>(1); // most turns have one signal
            onIt = leaving;
        }
        leaving.add(signal);
    }

    private void drainSoon() {
        runElsewhere(() -> depart(drain(null)));
    }

    /**
     * Runs as many tasks as are wanted. A task in the queue that is not counted as wanted yet may run in place of a later one. The later
     * one then stays in the queue until the count catches up.
     *
     * @param first a task that is not in the queue; null to take the first of the queue
     * @return the signals that leave the executor; null if there is none
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

    /** A task failed with an error of the JVM, which this thread passes on to its handler. The remaining tasks run on another thread. */
    private void abandon() {
        Deque<Runnable> leaving = onIt;
        drainer = null;
        if (wanted.decrementAndGet() != 0) {
            drainSoon();
        }
        departSoon(leaving);
    }

    /** Runs one signal here, as this thread is free now. Schedules the others, since one that takes long must not delay the rest. */
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
        runElsewhere(() -> runSafely(signal));
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
