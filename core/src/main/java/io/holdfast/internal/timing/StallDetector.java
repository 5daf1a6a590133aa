package io.holdfast.internal.timing;

import org.jspecify.annotations.Nullable;

/**
 * Detects a timer that does not run its tasks: one is overdue at several visits of the {@link TimerWatch}. A paused
 * process makes no visits. A clock that does not advance with this machine's clock is moved by hand, by a test.
 */
final class StallDetector {

    /** Two seconds: users' code that blocks a timer for less time only makes it late. */
    private static final int VISITS = 8;

    // The fields below, except one, are used by the thread of the watch only.
    private @Nullable Object suspect;
    private int overdueVisits;
    private long lastNanos;
    private long lastMachineNanos = System.nanoTime();

    /** Whether the timer has stalled and has not run a task since: the detector then waits less for the next task. */
    private volatile boolean isDistrusted;

    private boolean isNews;

    void ran() {
        if (isDistrusted) {
            isDistrusted = false;
        }
    }

    boolean isStalled(Object task, long dueNanos, long nowNanos) {
        boolean isOverdue = goesWithTheMachine(nowNanos) && Validity.isOver(dueNanos, nowNanos);
        overdueVisits = isOverdue && task.equals(suspect) ? overdueVisits + 1 : 0;
        suspect = isOverdue ? task : null;
        boolean stalls = overdueVisits >= (isDistrusted ? 1 : VISITS);
        isNews = stalls && !isDistrusted;
        isDistrusted |= stalls;
        return stalls;
    }

    /** The timer refuses a task although it is not disposed; returns true at the first time since it has run a task. */
    boolean refuses() {
        boolean first = !isDistrusted;
        isDistrusted = true;
        return first;
    }

    boolean isNews() {
        return isNews;
    }

    private boolean goesWithTheMachine(long nowNanos) {
        long machineNanos = System.nanoTime();
        long passed = nowNanos - lastNanos;
        long passedHere = machineNanos - lastMachineNanos;
        lastNanos = nowNanos;
        lastMachineNanos = machineNanos;
        return Math.abs(passed - passedHere) <= passedHere / 2;
    }
}
