package io.holdfast;

import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Exceptions;

/**
 * Runs tasks on this thread one after the other, and not within each other: an owner that is told may release at once, which tells the next
 * one, and a long queue would end in a stack overflow. Each thread has its own, so that none waits for what another one runs.
 */
final class Trampoline {

    private static final Logger LOG = LoggerFactory.getLogger("io.holdfast.LockClient");
    private static final ThreadLocal<@Nullable Queue<Runnable>> TASKS = new ThreadLocal<>();

    private Trampoline() {}

    static void run(Runnable task) {
        Queue<Runnable> running = TASKS.get();
        if (running != null) {
            running.add(task);
            return;
        }
        Queue<Runnable> mine = new ArrayDeque<>();
        TASKS.set(mine);
        try {
            for (Runnable next = task; next != null; next = mine.poll()) {
                runOne(next);
            }
        } finally {
            TASKS.remove();
            mine.forEach(Trampoline::run); // only after an error of the JVM
        }
    }

    private static void runOne(Runnable task) {
        try {
            task.run();
        } catch (Throwable broken) {
            Exceptions.throwIfJvmFatal(broken);
            LOG.error("a subscriber threw when it was told of a lock", broken);
        }
    }
}
