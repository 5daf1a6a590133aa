package io.holdfast.internal;

import io.holdfast.internal.state.Validity;
import org.jspecify.annotations.Nullable;

/**
 * Whether a timer leaves its tasks undone: the same one is overdue each time that the {@link TimerWatch} comes by. Counted in visits and not
 * in time, so that a process that stood still is no reason: its watch stood still too.
 *
 * <p>A clock that does not go with this machine's is moved by hand, as in tests; its tasks run when a hand moves it, and that is nobody's
 * business here.
 */
final class StallDetector {

    /** Two seconds: users' code that blocks a timer for less than that is merely late. */
    private static final int VISITS = 8;

    // All below but one: used by the thread of the watch only.
    private @Nullable Object suspect;
    private int overdueVisits;
    private long lastNanos;
    private long lastMachineNanos = System.nanoTime();

    /** Whether it has stalled and has not run a task since: the next task is not waited for as long. */
    private volatile boolean isDistrusted;

    private boolean isNews;

    /** The timer has run a task. */
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

    /**
     * The timer refuses a task though it is not disposed.
     *
     * @return whether that is news
     */
    boolean refuses() {
        boolean first = !isDistrusted;
        isDistrusted = true;
        return first;
    }

    /** Whether the last answer was the first of its kind since the timer has run a task. */
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
