package io.holdfast.redis;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Claims that have come to the head of their queue, and look again when they are still there after a while.
 *
 * <p>Nearly all are served before. So there is one task for all, which nobody takes off and which finds nothing due most times: a task for
 * each claim would wake a thread at each hand-off.
 */
final class HeadLooks {

    private final BiConsumer<Duration, Runnable> later;
    private final LongSupplier nanoTime;
    private final Consumer<String> look;

    /** When each claim looks. */
    private final ConcurrentMap<String, Long> due = new ConcurrentHashMap<>();

    /** The task that comes first; null for none. */
    private final AtomicReference<@Nullable Task> first = new AtomicReference<>();

    private final class Task implements Runnable {

        final long atNanos;

        Task(long atNanos) {
            this.atNanos = atNanos;
        }

        @Override
        public void run() {
            lookNow(this);
        }
    }

    /**
     * Without claims.
     *
     * @param later runs a task after a pause
     * @param look told the id of a claim that is to look
     */
    HeadLooks(BiConsumer<Duration, Runnable> later, LongSupplier nanoTime, Consumer<String> look) {
        this.later = later;
        this.nanoTime = nanoTime;
        this.look = look;
    }

    /** A claim that is there already keeps its time. */
    void add(String claimId, Duration within) {
        long at = nanoTime.getAsLong() + within.toNanos();
        if (due.putIfAbsent(claimId, at) == null) {
            arm(at);
        }
    }

    void remove(String claimId) {
        due.remove(claimId);
    }

    private void arm(long atNanos) {
        Task known = first.get();
        while (known == null || atNanos - known.atNanos < 0) {
            Task mine = new Task(atNanos);
            if (first.compareAndSet(known, mine)) {
                later.accept(Duration.ofNanos(Math.max(0, atNanos - nanoTime.getAsLong())), mine);
                return; // one that it replaces runs as well, and finds little to do
            }
            known = first.get();
        }
    }

    private void lookNow(Task task) {
        first.compareAndSet(task, null);
        long now = nanoTime.getAsLong();
        due.forEach((claimId, at) -> {
            if (at - now > 0) {
                arm(at);
            } else if (due.remove(claimId, at)) {
                look.accept(claimId);
            }
        });
    }
}
