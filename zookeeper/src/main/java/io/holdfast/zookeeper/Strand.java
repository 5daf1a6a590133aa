package io.holdfast.zookeeper;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.util.context.Context;

/**
 * Runs one task at a time, in the order in which they came, on the threads of a scheduler. It has no thread and nothing to close.
 */
final class Strand {

    private static final Logger LOG = LoggerFactory.getLogger(ZooKeeperLockBackend.class);

    /** Then others may have the thread. */
    private static final int MOST_IN_A_ROW = 128;

    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicInteger wanted = new AtomicInteger();
    private final Scheduler threads;

    Strand(Scheduler threads) {
        this.threads = threads;
    }

    /** From any thread; only hands over. */
    void run(Runnable task) {
        tasks.add(task);
        if (wanted.getAndIncrement() == 0) {
            drainSoon();
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

    private void drainSoon() {
        try {
            Disposable unused = threads.schedule(this::drain);
        } catch (RejectedExecutionException schedulerIsDisposed) {
            drain();
        }
    }

    private void drain() {
        for (int done = 0; done < MOST_IN_A_ROW; done++) {
            Runnable task = tasks.poll();
            if (task != null) {
                runSafely(task);
            }
            if (wanted.decrementAndGet() == 0) {
                return;
            }
        }
        drainSoon();
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
