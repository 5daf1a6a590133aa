package io.holdfast.test;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Ends a test that waits for an event that only an advance of virtual time can cause. The waiting thread is the one
 * that would advance the time: without this class, it waits for ever.
 */
final class StuckWatch implements AutoCloseable {

    private static final ScheduledThreadPoolExecutor TIMER = new ScheduledThreadPoolExecutor(1, task -> {
        Thread thread = new Thread(task, "holdfast-test-stuck-watch");
        thread.setDaemon(true);
        return thread;
    });

    private final Thread test;
    private final long limitNanos;
    private final Runnable rescue;

    // The fields below are guarded by the monitor.

    /** Since when the thread has been waiting at each check; 0 if it was not waiting at the last one. */
    private long waitingSinceNanos;

    private boolean interrupted;
    private boolean closed;

    /** Written once, at the start. */
    private @Nullable ScheduledFuture<?> checks;

    private StuckWatch(Thread test, Duration limit, Runnable rescue) {
        this.test = test;
        limitNanos = limit.toNanos();
        this.rescue = rescue;
    }

    /**
     * Watches a thread.
     *
     * @param rescue the action when an interrupt does not end the wait, such as that of
     *     {@code CompletableFuture.join()}
     */
    static StuckWatch start(Thread test, Duration limit, Runnable rescue) {
        StuckWatch watch = new StuckWatch(test, limit, rescue);
        long pause = Math.max(1, watch.limitNanos / 10);
        watch.checks = TIMER.scheduleAtFixedRate(watch::check, pause, pause, TimeUnit.NANOSECONDS);
        return watch;
    }

    private void check() {
        boolean isOfNoUse = false;
        synchronized (this) {
            long now = System.nanoTime();
            if (closed || !isWaiting()) {
                waitingSinceNanos = 0;
            } else if (waitingSinceNanos == 0) {
                waitingSinceNanos = now;
            } else if (interrupted) {
                isOfNoUse = true;
            } else if (now - waitingSinceNanos >= limitNanos) {
                interrupted = true;
                test.interrupt();
            }
        }
        if (isOfNoUse) {
            rescue.run();
        }
    }

    private boolean isWaiting() {
        Thread.State state = test.getState();
        List<String> classes = Arrays.stream(test.getStackTrace())
                .map(StackTraceElement::getClassName)
                .toList();
        return isVerifying(classes)
                || ((state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING)
                        && classes.stream().anyMatch(StuckWatch::isOfAWait));
    }

    private static boolean isOfAWait(String className) {
        return className.startsWith("reactor.core.publisher.Blocking")
                || className.equals("java.util.concurrent.CompletableFuture");
    }

    /** A {@code StepVerifier} looks for its end without a pause, so its thread is seldom parked. */
    private static boolean isVerifying(List<String> classes) {
        return classes.stream()
                .filter(it -> !it.startsWith("java.") && !it.startsWith("jdk."))
                .limit(1)
                .anyMatch(it -> it.startsWith("reactor.test.DefaultStepVerifierBuilder"));
    }

    /**
     * Handles the end of the test.
     *
     * @param thrown the exception of the test, or null
     * @throws AssertionError if the test was stuck
     */
    synchronized void failIfStuck(@Nullable Throwable thrown) {
        if (!interrupted) {
            return;
        }
        throw new AssertionError(
                "the test waited for %s of real time, with block(), a future or a StepVerifier, for an event that did not happen; virtual time"
                                .formatted(Duration.ofNanos(limitNanos))
                        + " stands still meanwhile. Use await(mono) of TestLocks, or subscribe first and advance(time) then,"
                        + " or use TestLocks.realTime()",
                thrown);
    }

    /** Stops watching: the thread goes on to other tests. */
    @Override
    public synchronized void close() {
        closed = true;
        if (checks != null) {
            checks.cancel(false);
        }
        if (interrupted) {
            boolean unused = Thread.interrupted();
        }
    }
}
