package io.holdfast.internal.timing;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.spi.support.Fallible;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;

/**
 * The one timer of a client, or of a back end: puts all pauses, time limits and deadlines on one task of the user's
 * scheduler, which is also the clock.
 *
 * <p>The monitor guards a few memory accesses. No thread holds it while an alarm rings. Alarms ring in a {@link Turn}:
 * users' code runs last. This class detects a dead timer at its next call, and the {@link TimerWatch} detects it
 * without a call. From then on alarms ring on another thread.
 */
public final class AlarmClock {

    private static final Logger LOG = LoggerFactory.getLogger(AlarmClock.class);

    /** An alarm rings once at its time, unless it is taken off or set again before. */
    public abstract static class Alarm {

        // The heap writes both fields.
        int place = AlarmHeap.OFF;
        long dueNanos;

        public static Alarm of(Runnable ring) {
            return new Plain(ring, false);
        }

        /** Returns an alarm that also rings when the clock is closed: a caller waits for it. */
        public static Alarm atTheLatestAtClose(Runnable ring) {
            return new Plain(ring, true);
        }

        public abstract void ring();

        public boolean ringsAtClose() {
            return false;
        }
    }

    private static final class Plain extends Alarm {

        private final Runnable ring;
        private final boolean ringsAtClose;

        Plain(Runnable ring, boolean ringsAtClose) {
            this.ring = ring;
            this.ringsAtClose = ringsAtClose;
        }

        @Override
        public void ring() {
            ring.run();
        }

        @Override
        public boolean ringsAtClose() {
            return ringsAtClose;
        }
    }

    final class Wake implements Runnable {

        final long dueNanos;

        /** It may be disposed before it holds the task: then it disposes the task when it gets it. */
        final Disposable.Swap task = Disposables.swap();

        Wake(long dueNanos) {
            this.dueNanos = dueNanos;
        }

        @Override
        public void run() {
            stalls.ran();
            wake(this);
        }
    }

    /** The source of time: the user's scheduler, or the fallback, which continues from where the scheduler stopped. */
    private record Source(Scheduler timer, long aheadNanos) {

        long now() {
            return timer.now(TimeUnit.NANOSECONDS) + aheadNanos;
        }
    }

    private final Runnable afterRings;
    private final Runnable afterDeath;
    private final StallDetector stalls = new StallDetector();

    /** Written a second time, under the monitor, when the user's timer has died. */
    private volatile Source source;

    // The fields below are written under the monitor.
    private final AlarmHeap heap = new AlarmHeap();
    private @Nullable Wake next;
    private boolean watched;
    private boolean dead;
    private boolean closed;

    AlarmClock(Scheduler timer, Runnable afterRings) {
        this(timer, afterRings, () -> {});
    }

    /** {@code afterRings} runs when all alarms of one moment have rung, {@code afterDeath} once if the timer dies. */
    public AlarmClock(Scheduler timer, Runnable afterRings, Runnable afterDeath) {
        source = new Source(timer, 0);
        this.afterRings = afterRings;
        this.afterDeath = afterDeath;
    }

    public long now() {
        return source.now();
    }

    /** When the clock is closed, an alarm with a waiting caller rings now, and no other is set. */
    public void set(Alarm alarm, long dueNanos) {
        if (!wakeForFirst(alarm, dueNanos) && alarm.ringsAtClose()) {
            run(alarm::ring);
        }
    }

    public void off(@Nullable Alarm alarm) {
        if (alarm == null) {
            return;
        }
        synchronized (this) {
            heap.takeOff(alarm);
        }
    }

    /** Closes the clock: alarms with a waiting caller ring now, and no alarm rings after that. */
    public void close() {
        List<Alarm> awaited = new ArrayList<>();
        Wake last;
        synchronized (this) {
            closed = true;
            for (Alarm dropped = heap.takeAny(); dropped != null; dropped = heap.takeAny()) {
                if (dropped.ringsAtClose()) {
                    awaited.add(dropped);
                }
            }
            last = next;
            next = null;
        }
        if (last != null) {
            last.task.dispose();
        }
        awaited.forEach(alarm -> run(alarm::ring));
    }

    public synchronized boolean isClosed() {
        return closed;
    }

    public synchronized int size() {
        return heap.size();
    }

    public void checkTimer() {
        if (source.timer().isDisposed()) {
            died();
        }
    }

    /** Detects a timer that is dead or does not run its tasks; returns false when there is nothing to watch for now. */
    boolean isWorthWatching() {
        checkTimer();
        Wake pending;
        synchronized (this) {
            watched = !closed && !dead && heap.size() > 0;
            if (!watched) {
                return false;
            }
            pending = next;
        }
        if (pending != null && stalls.isStalled(pending, pending.dueNanos, now())) {
            if (stalls.isNews()) {
                warnThatTasksAreNotRun();
            }
            Disposable unused = TimerWatch.fallback().schedule(() -> wake(pending));
        }
        return true;
    }

    private void wake(Wake wake) {
        synchronized (this) {
            if (next != wake) {
                return; // This task was disposed too late: an earlier one has replaced it.
            }
            next = null;
        }
        Turn.take(this::ring);
    }

    /** Alarms that are set meanwhile and are due ring in the next turn, so that a turn ends. */
    private void ring() {
        long now = now();
        int most = size();
        try {
            for (int rung = 0; rung < most; rung++) {
                Alarm due = takeDue(now);
                if (due == null) {
                    break;
                }
                run(due::ring);
            }
            run(afterRings);
        } finally {
            wakeForFirst(null, 0);
        }
    }

    /** The other alarms, such as deadlines of leases, must ring all the same. */
    private static void run(Runnable task) {
        Fallible.run(task, LOG, "an alarm could not be handled");
    }

    private synchronized @Nullable Alarm takeDue(long nowNanos) {
        return heap.takeDue(nowNanos);
    }

    /**
     * A task that comes too early stays: it finds no alarm due and schedules the next task. The scheduler is not called
     * under the monitor, because some schedulers run a due task at once, on the calling thread.
     */
    @CanIgnoreReturnValue
    private boolean wakeForFirst(@Nullable Alarm fresh, long dueNanos) {
        Wake wake = null;
        Wake replaced = null;
        boolean isToWatch;
        synchronized (this) {
            if (closed) {
                return false;
            }
            if (fresh != null) {
                heap.set(fresh, dueNanos);
            }
            if (heap.size() == 0) {
                return true;
            }
            isToWatch = !watched && !dead; // the first alarm after a visit that found none
            watched = true;
            if (!wakesInTime()) { // otherwise by a task for an alarm that was taken off, perhaps
                replaced = next;
                wake = new Wake(heap.firstDueNanos());
                next = wake;
            }
        }
        if (replaced != null) {
            replaced.task.dispose();
        }
        if (wake != null) {
            schedule(wake);
        }
        if (isToWatch) {
            TimerWatch.watch(this);
        }
        return true;
    }

    private boolean wakesInTime() {
        return next != null && next.dueNanos - heap.firstDueNanos() <= 0;
    }

    private void schedule(Wake wake) {
        Source current = source;
        long delay = Math.max(0, wake.dueNanos - current.now());
        try {
            boolean unused = wake.task.update(current.timer().schedule(wake, delay, TimeUnit.NANOSECONDS));
        } catch (RejectedExecutionException refused) {
            checkTimer(); // the timer is dead, or only its queue is full
            if (current.timer() == source.timer() && stalls.refuses()) {
                warnThatTasksAreNotRun();
            }
            boolean unused = wake.task.update(TimerWatch.fallback().schedule(wake, delay, TimeUnit.NANOSECONDS));
        }
    }

    private static void warnThatTasksAreNotRun() {
        Fallible.tell(
                () -> LOG.warn(
                        "the timer of a lock client, or of its back end, does not run its tasks, so another thread does: is it blocked?"));
    }

    private void died() {
        synchronized (this) {
            if (closed || dead) {
                return;
            }
            dead = true;
            Scheduler fallback = TimerWatch.fallback();
            source = new Source(fallback, source.now() - fallback.now(TimeUnit.NANOSECONDS));
            next = null; // Its task was dropped, or does not matter any more.
        }
        afterDeath.run();
        wakeForFirst(null, 0);
    }
}
