package io.holdfast.spring;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/**
 * Threads for work under locks, which may block. An idle thread is used before a new one is started. When the highest number is reached,
 * tasks wait for the first free thread.
 *
 * <p>Blocked work may wait for other work: a call under one lock takes a second lock. So while tasks wait and none ends, one more thread is
 * started each second. When no task waits any more, the bound is reset.
 */
final class WorkThreads {

    private static final Logger LOG = LoggerFactory.getLogger(WorkThreads.class);

    /** If tasks wait and none has ended for so long, one more thread is started. */
    static final long STUCK_MILLIS = 1_000;

    private static final long IDLE_SECONDS = 60;

    /** The first task of a new thread. After it, the thread takes a waiting task. */
    private static final class Start implements Runnable {

        @Override
        public void run() {}
    }

    /** Accepts a task only if an idle thread waits for one. Else the pool starts a thread, or calls {@link #wait}. */
    private static final class Waiting extends LinkedTransferQueue<Runnable> {

        private static final long serialVersionUID = 1L;

        @Override
        public boolean offer(Runnable task) {
            return tryTransfer(task);
        }

        void append(Runnable task) {
            boolean unused = super.offer(task);
        }
    }

    private final int most;
    private final Scheduler timer;
    private final Waiting waiting = new Waiting();
    private final AtomicInteger made = new AtomicInteger();

    /** How many tasks have ended, without {@link Start}. */
    private final AtomicLong ended = new AtomicLong();

    private final AtomicBoolean isWatched = new AtomicBoolean();
    private final ThreadPoolExecutor threads;

    /** The class loader of the application, which creates this object when it starts. */
    private final @Nullable ClassLoader classes = Thread.currentThread().getContextClassLoader();

    /**
     * Starts no thread yet.
     *
     * @param most the highest number of threads
     * @param timer checks for waiting tasks
     */
    WorkThreads(int most, Scheduler timer) {
        this.most = most;
        this.timer = timer;
        threads =
                new ThreadPoolExecutor(
                        0, most, IDLE_SECONDS, TimeUnit.SECONDS, waiting, this::thread, (task, pool) -> wait(task)) {
                    @Override
                    protected void afterExecute(Runnable task, @Nullable Throwable failure) {
                        if (!(task instanceof Start)) {
                            ended.incrementAndGet();
                        }
                    }
                };
    }

    ExecutorService executor() {
        return threads;
    }

    /**
     * Accepts no more tasks. Waiting tasks still run, since a caller may be blocked until it gets a result. If all threads are blocked,
     * they run on one more. No thread is interrupted.
     */
    synchronized void end() {
        threads.shutdown(); // first: a task that comes now is refused, or is seen to wait
        if (!waiting.isEmpty()) {
            int more = threads.getPoolSize() + 1;
            threads.setMaximumPoolSize(Math.max(more, threads.getMaximumPoolSize()));
            // Also after its end, the pool makes threads up to its core for tasks that wait.
            threads.setCorePoolSize(more);
        }
    }

    int size() {
        return threads.getPoolSize();
    }

    /** Returns how many threads wait for a task. */
    int idle() {
        return waiting.getWaitingConsumerCount();
    }

    /**
     * Starts without the inheritable variables of the calling thread, which may contain the user of a request: the new thread also runs the
     * work of other users.
     */
    private Thread thread(Runnable tasks) {
        Thread thread = new Thread(null, tasks, "holdfast-work-" + made.incrementAndGet(), 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(classes);
        return thread;
    }

    private void wait(Runnable task) {
        if (task instanceof Start) {
            return; // another caller took the place of the new thread at this moment
        }
        if (!threads.isShutdown()) {
            waiting.append(task);
            if (!threads.isShutdown() || !waiting.remove(task)) { // looked at after end() could see it wait
                watch();
                return;
            }
        }
        throw new RejectedExecutionException("the threads for work under locks have ended");
    }

    private void watch() {
        if (isWatched.compareAndSet(false, true)) {
            checkAgain();
        }
    }

    private void checkAgain() {
        long endedBefore = ended.get();
        try {
            Disposable unused = timer.schedule(() -> check(endedBefore), STUCK_MILLIS, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException disposed) {
            isWatched.set(false); // the application has stopped the timer, so no more threads are added
        }
    }

    private synchronized void check(long endedBefore) {
        if (threads.isShutdown()) {
            return; // end() has added a thread
        }
        if (waiting.isEmpty()) {
            threads.setMaximumPoolSize(most);
            isWatched.set(false);
            if (!waiting.isEmpty()) {
                watch(); // a task arrived in between
            }
            return;
        }
        boolean isStuck = ended.get() == endedBefore;
        checkAgain(); // first, since adding a thread may fail
        if (isStuck) {
            addThread();
        }
    }

    private void addThread() {
        if (threads.getMaximumPoolSize() == most) {
            LOG.warn(
                    "all {} threads for work under locks are blocked, and {} tasks wait: one more thread is started each second. Leases are still renewed. See holdfast.deliver-threads",
                    most,
                    waiting.size());
        }
        // Those that were made beyond the bound may be blocked still, although the bound is what it was.
        threads.setMaximumPoolSize(Math.max(most, threads.getPoolSize()) + 1);
        threads.execute(new Start());
    }
}
