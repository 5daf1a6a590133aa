package io.holdfast.internal.timing;

import io.holdfast.spi.support.Fallible;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/**
 * Runs deliveries on a scheduler. A delivery may cause another one, which runs after it on the same thread. So a lock
 * that is handed from owner to owner wakes no other thread for each grant, and the stack does not grow with the queue.
 *
 * <p>A delivery may run users' code, which may take long. So a helper task starts after a millisecond, on another
 * thread if the scheduler has one, and runs the waiting deliveries. A thread that has delivered for half a millisecond
 * continues in a new task, behind the other tasks of the scheduler. Thread-safe.
 */
public final class DeliveryLine {

    private static final Logger LOG = LoggerFactory.getLogger(DeliveryLine.class);

    private static final long HELP_MILLIS = 1;
    private static final long TURN_NANOS = TimeUnit.MICROSECONDS.toNanos(500);

    /** The line whose deliveries this thread runs. */
    private static final ThreadLocal<@Nullable DeliveryLine> RUNNING = new ThreadLocal<>();

    private final Scheduler scheduler;
    private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean isHelpComing = new AtomicBoolean();

    /** When the scheduler is disposed, the calling thread runs the deliveries. */
    public DeliveryLine(Scheduler scheduler) {
        this.scheduler = scheduler;
    }

    /** Runs a delivery soon: after the delivery that this thread runs, or in a task of the scheduler. */
    public void deliver(Runnable delivery) {
        waiting.add(delivery);
        if (RUNNING.get() == this) {
            callHelp();
        } else if (!isScheduled()) {
            run();
        }
    }

    /** Runs a delivery now, or after the one that this thread runs: for a thread with nothing else to do. */
    public void deliverHere(Runnable delivery) {
        waiting.add(delivery);
        if (RUNNING.get() == this) {
            callHelp();
        } else {
            run();
        }
    }

    private boolean isScheduled() {
        try {
            Disposable unused = scheduler.schedule(this::run);
            return true;
        } catch (RejectedExecutionException disposed) {
            return false;
        }
    }

    private void callHelp() {
        if (isHelpComing.get() || !isHelpComing.compareAndSet(false, true)) {
            return;
        }
        try {
            Disposable unused = scheduler.schedule(this::help, HELP_MILLIS, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException disposed) {
            isHelpComing.set(false); // this thread runs them all
        }
    }

    private void help() {
        isHelpComing.set(false);
        run();
    }

    private void run() {
        DeliveryLine outer = RUNNING.get();
        RUNNING.set(this);
        try {
            do {
                takeTurn();
            } while (!waiting.isEmpty() && !isScheduled());
        } finally {
            if (outer == null) {
                RUNNING.remove();
            } else {
                RUNNING.set(outer);
            }
        }
    }

    private void takeTurn() {
        long begunNanos = scheduler.now(TimeUnit.NANOSECONDS);
        Runnable next = waiting.poll();
        while (next != null) {
            Fallible.run(next, LOG, "a signal could not be delivered");
            next = scheduler.now(TimeUnit.NANOSECONDS) - begunNanos < TURN_NANOS ? waiting.poll() : null;
        }
    }
}
