package io.holdfast.internal.timing;

import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs tasks one at a time, in order, on the threads that post them. No thread waits or blocks. A task posted from
 * within a task runs after it.
 *
 * <p>The waiting tasks are a list with the newest in front, in one atomic field. The thread that runs tasks takes the
 * whole list, reverses it and runs it, until the list is empty.
 */
public final class Mailbox {

    public interface Owner {

        /** Handles a task that has thrown, within the mailbox, before the next task. */
        void broken(Throwable defect);
    }

    private static final class Waiting {

        private final Runnable task;

        /** The task posted before, or BUSY; after the list was reversed, the task posted after, or BUSY. */
        private Waiting neighbour = this;

        Waiting(Runnable task) {
            this.task = task;
        }
    }

    private static final Logger LOG = LoggerFactory.getLogger(Mailbox.class);

    private static final AtomicReferenceFieldUpdater<Mailbox, @Nullable Waiting> NEWEST =
            AtomicReferenceFieldUpdater.newUpdater(Mailbox.class, Waiting.class, "newest");

    /** The end of each list. Without a list, it means that a thread runs a task, and none waits. */
    private static final Waiting BUSY = new Waiting(() -> {});

    private final Owner owner;

    /** Null when no thread runs tasks. The thread that replaces null by BUSY runs them. */
    private volatile @Nullable Waiting newest;

    Mailbox() {
        this(defect -> {});
    }

    public Mailbox(Owner owner) {
        this.owner = owner;
    }

    public void post(Runnable task) {
        if (NEWEST.compareAndSet(this, null, BUSY) || !joins(new Waiting(task))) {
            run(task);
            runThoseThatWait();
        }
    }

    /** Returns false when no thread runs tasks any more; then this thread runs them. */
    private boolean joins(Waiting last) {
        while (true) {
            Waiting before = newest;
            if (before == null) {
                if (NEWEST.compareAndSet(this, null, BUSY)) {
                    return false;
                }
            } else {
                last.neighbour = before;
                if (NEWEST.compareAndSet(this, before, last)) {
                    return true;
                }
            }
        }
    }

    private void runThoseThatWait() {
        while (!NEWEST.compareAndSet(this, BUSY, null)) {
            for (Waiting next = takeOldest(); next != BUSY; next = next.neighbour) {
                run(next.task);
            }
        }
    }

    /** Takes the whole list and reverses it. */
    private Waiting takeOldest() {
        Waiting oldest = BUSY;
        Waiting next = NEWEST.getAndSet(this, BUSY);
        while (next != null && next != BUSY) {
            Waiting before = next.neighbour;
            next.neighbour = oldest;
            oldest = next;
            next = before;
        }
        return oldest;
    }

    private void run(Runnable task) {
        try {
            task.run();
        } catch (Throwable defect) {
            // A task that throws is a defect of this library, or a subscriber breaks rule 2.13 of Reactive Streams.
            // Later tasks, such as a release, must run all the same.
            Fallible.log(defect, LOG, "a lock event could not be handled");
            Fallible.run(() -> owner.broken(defect), LOG, "a lock event could not be handled");
        }
    }
}
