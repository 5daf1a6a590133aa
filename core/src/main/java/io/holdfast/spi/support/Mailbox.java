package io.holdfast.spi.support;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles events one at a time, in order, on the threads that bring them. No thread waits for another one. Within an
 * event, an object that only events use needs no monitor, and an answer that comes while its request is sent is handled
 * after that. Users' code may take long, so it runs outside: see {@link #after}. An action that posts runs what follows from
 * that before it goes on, but no action behind itself: so the stack does not grow with their number.
 */
public final class Mailbox {

    private static final Logger LOG = LoggerFactory.getLogger(Mailbox.class);

    private static final AtomicIntegerFieldUpdater<Mailbox> DUE =
            AtomicIntegerFieldUpdater.newUpdater(Mailbox.class, "due");

    private final Queue<Runnable> events = new ConcurrentLinkedQueue<>();
    private final Consumer<Throwable> broken;

    /** Those of the events that are being handled, for the thread that handles them. Used within events only. */
    private @Nullable Queue<Runnable> actions;

    /** Counts the reasons to handle events; the thread that raises it from zero handles them. */
    private volatile int due;

    /**
     * Makes a mailbox without events.
     *
     * @param broken handles what an event or an action has thrown: a defect, or the exception of a subscriber that breaks rule 2.13
     *     of Reactive Streams. After an action, another thread may handle an event meanwhile
     */
    public Mailbox(Consumer<Throwable> broken) {
        this.broken = broken;
    }

    /**
     * Handles the event now, or behind those that are being handled.
     *
     * @param event handles it
     */
    public void post(Runnable event) {
        if (due == 0 && DUE.compareAndSet(this, 0, 1)) {
            run(event); // mostly
        } else {
            events.add(event);
            if (DUE.getAndIncrement(this) != 0) {
                return;
            }
        }
        Queue<Runnable> mine = null;
        for (int seen = 1; seen != 0; seen = DUE.addAndGet(this, -seen)) {
            runAll(events);
            mine = withActions(mine);
        }
        if (mine != null) {
            runAll(mine);
        }
    }

    private @Nullable Queue<Runnable> withActions(@Nullable Queue<Runnable> mine) {
        Queue<Runnable> fresh = actions;
        if (fresh == null) {
            return mine;
        }
        if (mine != null) {
            mine.addAll(fresh);
            fresh.clear();
            return mine;
        }
        actions = null;
        return fresh;
    }

    /**
     * Called within an event: runs the action when the events are handled.
     *
     * @param action may take long
     */
    public void after(Runnable action) {
        Queue<Runnable> all = actions;
        if (all == null) {
            all = new ArrayDeque<>(2);
            actions = all;
        }
        all.add(action);
    }

    private void runAll(Queue<Runnable> some) {
        for (Runnable next = some.poll(); next != null; next = some.poll()) {
            run(next);
        }
    }

    /** Those behind it, such as a release, must run all the same. */
    private void run(Runnable some) {
        try {
            some.run();
        } catch (Throwable defect) {
            Fallible.run(() -> broken.accept(defect), LOG, "a lock event could not be handled");
        }
    }
}
