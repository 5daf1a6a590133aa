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
 * Threads for work under locks, which may block. An idle thread is taken before a new one is made; when there are as many as allowed, tasks wait for the
 * first one that gets free.
 *
 * <p>Work that blocks may wait for other work: a call under one lock takes a second lock. So as long as tasks wait and none ends, one thread more is made each
 * second. When no task waits, the bound is what it was.
 */
final class WorkThreads {

    private static final Logger LOG = LoggerFactory.getLogger(WorkThreads.class);

    /** For so long no task must have ended while tasks wait. */
    static final long STUCK_MILLIS = 1_000;

    private static final long IDLE_SECONDS = 60;

    /** A new thread begins with this task, and then takes a task that waits. */
    private static final class Start implements Runnable {

        @Override
        public void run() {}
    }

    /** Takes a task only if an idle thread waits for one: else the pool makes a thread, or calls {@link #wait}. */
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

    /** Of the application, which makes this when it starts. */
    private final @Nullable ClassLoader classes = Thread.currentThread().getContextClassLoader();

    /**
     * No thread yet.
     *
     * @param most how many threads
     * @param timer looks after tasks that wait
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
     * Takes no more tasks. Those that wait still run, since a caller may be blocked until it hears its result: on one thread more if all are blocked. None is
     * interrupted.
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

    /** How many wait for a task. */
    int idle() {
        return waiting.getWaitingConsumerCount();
    }

    /** The thread that needs it may have the user of a request in its inheritable variables, and the new one runs the work of others too. */
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
            attemptAgain();
        }
    }

    private void attemptAgain() {
        long endedBefore = ended.get();
        try {
            Disposable unused = timer.schedule(() -> look(endedBefore), STUCK_MILLIS, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException disposed) {
            isWatched.set(false); // no more help
        }
    }

    private synchronized void look(long endedBefore) {
        if (threads.isShutdown()) {
            return; // there is a thread more already
        }
        if (waiting.isEmpty()) {
            threads.setMaximumPoolSize(most);
            isWatched.set(false);
            if (!waiting.isEmpty()) {
                watch(); // it came in between
            }
            return;
        }
        boolean isStuck = ended.get() == endedBefore;
        attemptAgain(); // first: the machine may have no thread left, now
        if (isStuck) {
            addThread();
        }
    }

    private void addThread() {
        if (threads.getMaximumPoolSize() == most) {
            LOG.warn(
                    "all {} threads for work under locks are blocked, and {} tasks wait: one thread more is made each second. Leases are renewed all the same. See holdfast.deliver-threads",
                    most,
                    waiting.size());
        }
        // Those that were made beyond the bound may be blocked still, although the bound is what it was.
        threads.setMaximumPoolSize(Math.max(most, threads.getPoolSize()) + 1);
        threads.execute(new Start());
    }
}
