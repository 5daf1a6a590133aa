package io.holdfast.internal.timing;

import io.holdfast.spi.support.Fallible;
import java.lang.ref.WeakReference;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Watches the timers on a thread of its own, since a disposed scheduler drops its tasks without a signal. */
final class TimerWatch implements Runnable {

    /** How late a client may notice that its timer has died; four checks a second cost almost nothing. */
    private static final long PERIOD_MILLIS = 250;

    private static final long KEEP_ALIVE_SECONDS = 5;

    private static final Logger LOG = LoggerFactory.getLogger(TimerWatch.class);
    private static final TimerWatch OF_THIS_JVM = new TimerWatch();

    /** Made for the first timer that dies. {@code Schedulers.shutdownNow()} disposes Reactor's own schedulers. */
    private static final class Fallback {
        static final Scheduler SCHEDULER = Schedulers.newParallel("holdfast-fallback", 2, true);
    }

    /** Weak references: no caller waits for a client that is garbage. */
    private final Queue<WeakReference<AlarmClock>> clocks = new ConcurrentLinkedQueue<>();

    private final AtomicBoolean isComing = new AtomicBoolean();

    private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, TimerWatch::thread);

    private TimerWatch() {
        executor.setKeepAliveTime(KEEP_ALIVE_SECONDS, TimeUnit.SECONDS);
        executor.allowCoreThreadTimeOut(true);
    }

    static void watch(AlarmClock clock) {
        OF_THIS_JVM.clocks.add(new WeakReference<>(clock));
        OF_THIS_JVM.comeAgain();
    }

    static Scheduler fallback() {
        return Fallback.SCHEDULER;
    }

    @Override
    public void run() {
        try {
            clocks.removeIf(reference -> !isWorthWatching(reference.get()));
        } finally { // also after an error of the JVM, such as a temporary lack of memory
            isComing.set(false);
            if (!clocks.isEmpty()) {
                comeAgain();
            }
        }
    }

    private void comeAgain() {
        if (isComing.compareAndSet(false, true)) {
            var unused = executor.schedule(this, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    private static boolean isWorthWatching(@Nullable AlarmClock clock) {
        try {
            return clock != null && clock.isWorthWatching();
        } catch (Throwable broken) {
            Fallible.log(broken, LOG, "the timer of a lock client could not be checked");
            return true;
        }
    }

    private static Thread thread(Runnable work) {
        Thread thread = new Thread(work, "holdfast-timer-watch");
        thread.setDaemon(true);
        thread.setContextClassLoader(null); // the first client may belong to a web application that is undeployed later
        return thread;
    }
}
