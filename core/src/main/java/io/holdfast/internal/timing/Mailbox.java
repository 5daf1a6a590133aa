package io.holdfast.internal.timing;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs tasks one at a time, in order, on the threads that post them, without waiting. */
public final class Mailbox {

    private static final Logger LOG = LoggerFactory.getLogger(Mailbox.class);

    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final Drain running = new Drain(this::runAll);
    private final Consumer<Throwable> broken;

    /** {@code broken} handles a task that has thrown, within the mailbox, before the next task. */
    public Mailbox(Consumer<Throwable> broken) {
        this.broken = broken;
    }

    public void post(Runnable task) {
        tasks.add(task);
        if (running.isDue()) {
            running.run();
        }
    }

    private void runAll() {
        for (Runnable next = tasks.poll(); next != null; next = tasks.poll()) {
            run(next);
        }
    }

    private void run(Runnable task) {
        try {
            task.run();
        } catch (Throwable defect) {
            // A defect of this library, or a subscriber that breaks rule 2.13 of Reactive Streams. Later tasks, such as
            // a release, must run all the same.
            Fallible.log(defect, LOG, "a lock event could not be handled");
            Fallible.run(() -> broken.accept(defect), LOG, "a lock event could not be handled");
        }
    }
}
