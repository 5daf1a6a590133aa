package io.holdfast.internal;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
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

    private static final AtomicIntegerFieldUpdater<Mailbox> PENDING =
            AtomicIntegerFieldUpdater.newUpdater(Mailbox.class, "pending");

    @SuppressWarnings("rawtypes")
    private static final AtomicReferenceFieldUpdater<Mailbox, Queue> WAITING =
            AtomicReferenceFieldUpdater.newUpdater(Mailbox.class, Queue.class, "waiting");

    /** In the place of a queue; never written. */
    private static final Queue<Runnable> NONE = new ArrayDeque<>(0);

    private final Owner owner;

    /** Posted and not yet run; the thread that raises it from zero runs the tasks. */
    @SuppressWarnings("unused") // by PENDING only
    private volatile int pending;

    /** NONE until the first task has to wait, which most mailboxes never see. */
    private volatile Queue<Runnable> waiting = NONE;

    Mailbox() {
        this(defect -> {});
    }

    Mailbox(Owner owner) {
        this.owner = owner;
    }

    /** For tests, which stop a poster between its two steps. */
    Mailbox(Queue<Runnable> waiting) {
        this();
        this.waiting = waiting;
    }

    void post(Runnable task) {
        if (PENDING.compareAndSet(this, 0, 1)) {
            run(task);
            if (PENDING.decrementAndGet(this) == 0) {
                return;
            }
        } else {
            queue().add(task);
            if (PENDING.getAndIncrement(this) != 0) {
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
        Queue<Runnable> queue = queue();
        int seen = 1;
        do {
            for (Runnable task = queue.poll(); task != null; task = queue.poll()) {
                run(task);
            }
            seen = PENDING.addAndGet(this, -seen);
        } while (seen != 0);
    }

    private Queue<Runnable> queue() {
        Queue<Runnable> made = waiting;
        if (made != NONE) {
            return made;
        }
        Queue<Runnable> mine = new ConcurrentLinkedQueue<>();
        return WAITING.compareAndSet(this, NONE, mine) ? mine : waiting;
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
