package io.holdfast.redlock.internal.claim;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * Handles events one at a time, in order, on the threads that bring them. No thread waits for another one. Within an
 * event, an object that only events use needs no monitor, and an answer that comes while its request is sent is handled
 * after that. Users' code may take long, so it runs outside: see {@link #after}.
 */
public final class Mailbox {

    private final Queue<Runnable> events = new ConcurrentLinkedQueue<>();
    private final Queue<Runnable> actions = new ConcurrentLinkedQueue<>();

    /** Counts the reasons to handle events; the thread that raises it from zero handles them. */
    private final AtomicInteger due = new AtomicInteger();

    /** Handles the event now, or behind those that another thread handles. */
    public void post(Runnable event) {
        if (due.compareAndSet(0, 1)) {
            run(event); // mostly
        } else {
            events.add(event);
            if (due.getAndIncrement() != 0) {
                return;
            }
        }
        for (int seen = 1; seen != 0; seen = due.addAndGet(-seen)) {
            runAll(events);
        }
        runAll(actions);
    }

    /** Called within an event: runs the action when the events are handled. */
    public void after(Runnable action) {
        actions.add(action);
    }

    private static void runAll(Queue<Runnable> some) {
        for (Runnable next = some.poll(); next != null; next = some.poll()) {
            run(next);
        }
    }

    private static void run(Runnable some) {
        try {
            some.run();
        } catch (Throwable defect) {
            Operators.onErrorDropped(defect, Context.empty()); // those behind it must run all the same
        }
    }
}
