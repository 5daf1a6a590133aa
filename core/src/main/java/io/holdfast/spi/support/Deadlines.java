package io.holdfast.spi.support;

import io.holdfast.internal.timing.AlarmClock;
import io.holdfast.internal.timing.AlarmClock.Alarm;
import reactor.core.scheduler.Scheduler;

/**
 * The time limits of all requests of one back end, on one task of its timer. A task for each request would wake the
 * timer's thread for each request, though nearly all are answered long before.
 *
 * <p>If the timer is disposed, all deadlines pass at once. If it does not run its tasks, another thread does. Thread-safe.
 */
public final class Deadlines {

    /** An action at a time, unless the deadline is removed before. */
    public abstract static class Deadline {

        private final Alarm alarm = Alarm.atTheLatestAtClose(this::passed);

        /** Makes a deadline that is not set. */
        protected Deadline() {}

        /** Called when the deadline is due, on a thread of the timer and without a monitor. An exception is logged. */
        protected abstract void passed();
    }

    private final AlarmClock clock;

    /**
     * Makes an empty set of deadlines.
     *
     * @param timer runs the task, and is the clock
     */
    public Deadlines(Scheduler timer) {
        clock = new AlarmClock(timer, () -> {}, this::passAll);
    }

    /**
     * Sets a deadline, or changes its time.
     *
     * @param deadline a deadline of this object, or of none
     * @param dueNanos when it is due, by the timer's clock
     */
    public void set(Deadline deadline, long dueNanos) {
        clock.checkTimer();
        clock.set(deadline.alarm, dueNanos);
    }

    /**
     * Removes a deadline, if it is set.
     *
     * @param deadline a deadline of this object, or of none
     */
    public void off(Deadline deadline) {
        clock.off(deadline.alarm);
    }

    private void passAll() {
        clock.close();
    }
}
