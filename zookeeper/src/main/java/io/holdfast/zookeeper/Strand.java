package io.holdfast.zookeeper;

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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
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
final class Strand {

    private static final Logger LOG = LoggerFactory.getLogger(ZooKeeperLockBackend.class);

    /** Then others may have the thread. */
    private static final int MOST_IN_A_ROW = 128;

    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicInteger wanted = new AtomicInteger();
    private final Scheduler threads;

    /** The thread that runs a task now; written by it. Others only compare it with themselves. */
    private volatile @Nullable Thread drainer;

    /** What leaves the strand with the task that runs now; for the drainer only. */
    private Deque<Runnable> onIt = new ArrayDeque<>();

    Strand(Scheduler threads) {
        this.threads = threads;
    }

    /** From any thread, which runs it, and what comes meanwhile, if no other is at it. What leaves the strand does not do so here. */
    void run(Runnable task) {
        tasks.add(task);
        if (wanted.getAndIncrement() == 0) {
            drain().forEach(this::departSoon);
        }
    }

    /** Later. Never, when the threads have ended. */
    Disposable runAfter(Duration pause, Runnable task) {
        try {
            return threads.schedule(() -> run(task), pause.toNanos(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException schedulerIsDisposed) {
            return Disposables.disposed();
        }
    }

    /** The monotonic time. */
    long now() {
        return threads.now(TimeUnit.NANOSECONDS);
    }

    /** Subscribes on the strand, unless it was cancelled before that. */
    <T> Mono<T> defer(Supplier<? extends Mono<T>> source) {
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
     * @param work touches nothing that belongs to the strand
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
     * Passes an answer on outside of the strand: on its threads, but without holding up what is next.
     *
     * @param answer comes on the strand, or fails anywhere
     */
    <T> Mono<T> outside(Mono<T> answer) {
        return Mono.create(sink -> {
            // One signal for each: several could pass each other.
            Mono<Runnable> signal = answer.<Runnable>map(value -> () -> sink.success(value))
                    .defaultIfEmpty(sink::success)
                    .onErrorResume(error -> Mono.just(() -> sink.error(error)));
            sink.onDispose(signal.subscribe(this::leave, sink::error, () -> {}, Context.of(sink.contextView())));
        });
    }

    private void leave(Runnable signal) {
        if (Thread.currentThread().equals(drainer)) {
            onIt.add(signal);
        } else {
            departSoon(signal);
        }
    }

    private void drainSoon() {
        try {
            Disposable unused = threads.schedule(() -> depart(drain()));
        } catch (RejectedExecutionException schedulerIsDisposed) {
            depart(drain());
        }
    }

    /** Gives what leaves the strand. */
    private Deque<Runnable> drain() {
        Deque<Runnable> leaving = new ArrayDeque<>();
        boolean isOver = false;
        for (int done = 0; done < MOST_IN_A_ROW && !isOver; done++) {
            Runnable task = tasks.poll();
            if (task != null) {
                onIt = leaving;
                drainer = Thread.currentThread();
                try {
                    runSafely(task);
                } catch (Throwable fatal) {
                    abandon(leaving);
                    throw fatal;
                }
                drainer = null;
            }
            isOver = wanted.decrementAndGet() == 0;
        }
        if (!isOver) {
            drainSoon();
        }
        return leaving;
    }

    /** A task failed with an error of the JVM, which this thread passes on to its handler: the rest goes on without it. */
    private void abandon(Deque<Runnable> leaving) {
        drainer = null;
        if (wanted.decrementAndGet() != 0) {
            drainSoon();
        }
        leaving.forEach(this::departSoon);
    }

    /** One here, as this thread is free now, and the others wherever there is room: one that takes long must not hold up the rest. */
    private void depart(Deque<Runnable> leaving) {
        Runnable last = leaving.pollLast();
        leaving.forEach(this::departSoon);
        if (last != null) {
            runSafely(last);
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
