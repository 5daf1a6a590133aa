package io.holdfast.internal;

import io.holdfast.spi.DeadlineHeap;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.Exceptions;
import reactor.core.scheduler.Scheduler;

/**
 * The one timer of a client: all pauses, time limits and deadlines, however many, on one task of the user's scheduler, which is also
 * the clock.
 *
 * <p>The monitor guards a few memory accesses and is never held while an alarm rings. Alarms ring in a {@link Turn}: users' code comes
 * last. A timer that dies is noticed when something is asked of it, and by the {@link TimerWatch} when nothing is; alarms ring on another
 * thread from then on.
 */
final class AlarmClock {

    private static final Logger LOG = LoggerFactory.getLogger(AlarmClock.class);

    /** What rings once at its time, unless it is taken off or set anew before. */
    abstract static class Alarm extends DeadlineHeap.Deadline {

        static Alarm of(Runnable ring) {
            return new Plain(ring, false);
        }

        /** Rings when the clock is closed, if it has not rung before: a caller waits for it. */
        static Alarm atTheLatestAtClose(Runnable ring) {
            return new Plain(ring, true);
        }

        abstract void ring();

        /** Whether it rings when the clock is closed, if it has not rung before. */
        abstract boolean ringsAtClose();
    }

    /** An alarm that is nothing else. */
    private static final class Plain extends Alarm {

        private final Runnable ring;
        private final boolean ringsAtClose;

        Plain(Runnable ring, boolean ringsAtClose) {
            this.ring = ring;
            this.ringsAtClose = ringsAtClose;
        }

        @Override
        void ring() {
            ring.run();
        }

        @Override
        boolean ringsAtClose() {
            return ringsAtClose;
        }
    }

    /** One task of the scheduler. */
    final class Wake implements Runnable {

        final long dueNanos;

        /** Disposing of it before it holds the task is enough: the task is then disposed of when it comes. */
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

    /** What measures time: the user's scheduler, or the fallback, going on from where that stopped. */
    private record Source(Scheduler timer, long aheadNanos) {

        long now() {
            return timer.now(TimeUnit.NANOSECONDS) + aheadNanos;
        }
    }

    private final Runnable afterRings;
    private final Runnable afterDeath;
    private final StallDetector stalls = new StallDetector();

    /** Written once more, under the monitor, when the user's timer has died. */
    private volatile Source source;

    // All below: written under the monitor.
    private final DeadlineHeap<Alarm> heap = new DeadlineHeap<>();
    private @Nullable Wake next;
    private boolean watched;
    private boolean dead;
    private boolean closed;

    AlarmClock(Scheduler timer, Runnable afterRings) {
        this(timer, afterRings, () -> {});
    }

    /**
     * A clock without alarms.
     *
     * @param afterRings run when all alarms of one moment have rung
     * @param afterDeath run once if the timer dies; alarms ring all the same
     */
    AlarmClock(Scheduler timer, Runnable afterRings, Runnable afterDeath) {
        source = new Source(timer, 0);
        this.afterRings = afterRings;
        this.afterDeath = afterDeath;
    }

    long now() {
        return source.now();
    }

    void set(Alarm alarm, long dueNanos) {
        synchronized (this) {
            if (closed) {
                return;
            }
            heap.set(alarm, dueNanos);
            if (wakesInTime()) {
                return;
            }
        }
        wakeForFirst();
    }

    /** Takes it off, if it was made and is set. */
    void off(@Nullable Alarm alarm) {
        if (alarm == null) {
            return;
        }
        synchronized (this) {
            heap.takeOff(alarm);
        }
    }

    /** Nothing rings after this; the alarms that are waited for ring now. */
    void close() {
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

    /** Whether nothing rings any more. */
    synchronized boolean isClosed() {
        return closed;
    }

    synchronized int size() {
        return heap.size();
    }

    /** Notices a timer that was disposed. */
    void checkTimer() {
        if (source.timer().isDisposed()) {
            died();
        }
    }

    /**
     * Notices a timer that has died, or does not run its tasks, though nothing else happens.
     *
     * @return false when there is nothing to look after for now
     */
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
                return; // disposed of too late: one that is due earlier has taken its place
            }
            next = null;
        }
        Turn.take(this::ring);
    }

    /** What is set meanwhile and due already rings in the next turn, so that a turn ends. */
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
            wakeForFirst();
        }
    }

    private static void run(Runnable task) {
        try {
            task.run();
        } catch (Throwable defect) {
            Exceptions.throwIfJvmFatal(defect);
            // The other alarms, deadlines of leases among them, must ring all the same.
            LOG.error("an alarm could not be handled", defect);
        }
    }

    private synchronized @Nullable Alarm takeDue(long nowNanos) {
        return heap.takeDue(nowNanos);
    }

    /**
     * A task that comes too early is left as it is: it finds nothing due and sets the next. The scheduler is not called under the
     * monitor: some run a task that is due at once, on the thread that brings it.
     */
    private void wakeForFirst() {
        Wake wake;
        Wake replaced;
        boolean watchedBefore;
        synchronized (this) {
            if (closed || heap.size() == 0 || wakesInTime()) {
                return;
            }
            replaced = next;
            wake = new Wake(heap.firstDueNanos());
            next = wake;
            watchedBefore = watched || dead;
            watched = true;
        }
        if (replaced != null) {
            replaced.task.dispose();
        }
        schedule(wake);
        if (!watchedBefore) {
            TimerWatch.watch(this);
        }
    }

    /** Whether the next wake comes no later than the first alarm; under the monitor. */
    private boolean wakesInTime() {
        return next != null && next.dueNanos - heap.firstDueNanos() <= 0;
    }

    private void schedule(Wake wake) {
        Source current = source;
        long delay = Math.max(0, wake.dueNanos - current.now());
        try {
            boolean unused = wake.task.update(current.timer().schedule(wake, delay, TimeUnit.NANOSECONDS));
        } catch (RejectedExecutionException refused) {
            checkTimer(); // has it died, or is it merely full?
            if (current.timer() == source.timer() && stalls.refuses()) {
                warnThatTasksAreNotRun();
            }
            boolean unused = wake.task.update(TimerWatch.fallback().schedule(wake, delay, TimeUnit.NANOSECONDS));
        }
    }

    private static void warnThatTasksAreNotRun() {
        LOG.warn("the lock client's timer does not run its tasks, so another thread does: is it blocked?");
    }

    /** From now on the fallback rings. */
    private void died() {
        synchronized (this) {
            if (closed || dead) {
                return;
            }
            dead = true;
            Scheduler fallback = TimerWatch.fallback();
            source = new Source(fallback, source.now() - fallback.now(TimeUnit.NANOSECONDS));
            next = null; // its task was dropped, or does not matter any more
        }
        LOG.error("the lock client's timer was disposed before the client: its leases are lost and its waits end");
        afterDeath.run();
        wakeForFirst();
    }
}
