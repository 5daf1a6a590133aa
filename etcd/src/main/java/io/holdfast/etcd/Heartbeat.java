package io.holdfast.etcd;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/** Repeats a task from the first request on, until there was nothing to do for a while. */
final class Heartbeat {

    private static final int IDLE_BEATS = 10;

    private final Scheduler scheduler;
    private final Duration period;
    private final BooleanSupplier isIdle;
    private final Runnable task;

    /** Guarded by this object, as are the next two fields. */
    private @Nullable Disposable beating;

    private int idleBeats;
    private boolean isStopped;

    Heartbeat(Scheduler scheduler, Duration period, BooleanSupplier isIdle, Runnable task) {
        this.scheduler = scheduler;
        this.period = period;
        this.isIdle = isIdle;
        this.task = task;
    }

    /** {@return how often a presence of this duration is kept alive} */
    static Duration period(Duration presence) {
        return presence.dividedBy(3);
    }

    /** Called by each request. */
    synchronized void wake() {
        idleBeats = 0;
        if (beating == null && !isStopped) {
            beating = beatLater();
        }
    }

    /** Not by a periodic task: BlockHound takes the end of one, but not that of a single task, for a wait. */
    private Disposable beatLater() {
        return scheduler.schedule(this::beat, period.toMillis(), MILLISECONDS);
    }

    private void beat() {
        if (isDue()) {
            task.run();
        }
    }

    private synchronized boolean isDue() {
        if (beating != null) {
            idleBeats = isIdle.getAsBoolean() ? idleBeats + 1 : 0;
            beating = null; // if the timer refuses the next beat, the next request wakes this
            beating = idleBeats > IDLE_BEATS ? null : beatLater();
        }
        return beating != null;
    }

    /** Ends it for good. */
    synchronized void stop() {
        isStopped = true;
        if (beating != null) {
            beating.dispose();
            beating = null;
        }
    }
}
