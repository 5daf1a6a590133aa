package io.holdfast.internal;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Exceptions;
import reactor.core.scheduler.Scheduler;

/**
 * Runs deliveries on a scheduler. A delivery that a running one brings runs after it, on the same thread: a lock that goes from hand to hand
 * wakes no other thread for each grant, and the stack does not grow with the queue.
 *
 * <p>Users' code may run within a delivery, and may take long. So a helper comes after a millisecond, on another thread if the scheduler has
 * one, and runs what still waits. A thread that has delivered for half a millisecond goes on in a new task, behind the other tasks of the
 * scheduler. Thread-safe. Public only for the back ends of this module.
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

    /**
     * An empty line.
     *
     * @param scheduler stays the caller's. When it is disposed, the thread that brings a delivery runs it
     */
    public DeliveryLine(Scheduler scheduler) {
        this.scheduler = scheduler;
    }

    /**
     * Runs it soon: after the delivery that this thread runs, or in a task of the scheduler.
     *
     * @param delivery what to run
     */
    public void deliver(Runnable delivery) {
        waiting.add(delivery);
        if (RUNNING.get() == this) {
            callHelp();
        } else if (!isScheduled()) {
            run(); // a late thread beats no signal
        }
    }

    /**
     * Runs it now, unless this thread runs a delivery: then after that. For a thread that has nothing else to do until then, such as one that
     * hears a store: what comes of it stays there for half a millisecond.
     *
     * @param delivery what to run
     */
    public void deliverHere(Runnable delivery) {
        waiting.add(delivery);
        if (RUNNING.get() == this) {
            callHelp();
        } else {
            run();
        }
    }

    /** False when the scheduler is disposed. */
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
            run(next);
            next = scheduler.now(TimeUnit.NANOSECONDS) - begunNanos < TURN_NANOS ? waiting.poll() : null;
        }
    }

    private static void run(Runnable delivery) {
        try {
            delivery.run();
        } catch (Throwable broken) {
            Exceptions.throwIfJvmFatal(broken);
            LOG.error("a signal could not be delivered", broken);
        }
    }
}
