package io.holdfast.internal;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs tasks one at a time, in order, on whichever thread brings them: nobody waits, nobody blocks. A task posted from within a task
 * runs after it. The serial-access idiom of Reactor's operators: a counter of work in progress and a queue.
 */
final class Mailbox {

    /** Told when a task has thrown. */
    interface Owner {

        /** Within the mailbox, before the next task. */
        void broken(Throwable defect);
    }

    private static final Logger LOG = LoggerFactory.getLogger(Mailbox.class);

    /** Posted and not yet run; whoever raises it from zero runs. */
    private final AtomicInteger pending = new AtomicInteger();

    private final Owner owner;
    private final Queue<Runnable> waiting;

    Mailbox() {
        this(defect -> {});
    }

    Mailbox(Owner owner) {
        this(owner, new ConcurrentLinkedQueue<>());
    }

    /** For tests, which stop a poster between its two steps. */
    Mailbox(Queue<Runnable> waiting) {
        this(defect -> {}, waiting);
    }

    private Mailbox(Owner owner, Queue<Runnable> waiting) {
        this.owner = owner;
        this.waiting = waiting;
    }

    void post(Runnable task) {
        if (pending.compareAndSet(0, 1)) {
            run(task);
            if (pending.decrementAndGet() == 0) {
                return;
            }
        } else {
            waiting.add(task);
            if (pending.getAndIncrement() != 0) {
                return;
            }
        }
        drain();
    }

    /**
     * Empties the queue before it takes off what was counted: a task that is queued but not counted yet may come before one that is
     * counted. Running one task for each count would leave the counted one behind, for its poster's next task to overtake.
     */
    private void drain() {
        int seen = 1;
        do {
            for (Runnable task = waiting.poll(); task != null; task = waiting.poll()) {
                run(task);
            }
            seen = pending.addAndGet(-seen);
        } while (seen != 0);
    }

    private void run(Runnable task) {
        try {
            task.run();
        } catch (Throwable defect) {
            // A task that throws is a defect of this library or a subscriber that breaks the specification (rule 2.13).
            // The tasks behind it, a release among them, must run all the same.
            LOG.error("a lock event could not be handled", defect);
            tellOwner(defect);
        }
    }

    private void tellOwner(Throwable defect) {
        try {
            owner.broken(defect);
        } catch (Throwable another) {
            LOG.error("a lock event could not be handled", another);
        }
    }
}
