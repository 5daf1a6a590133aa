package io.holdfast.redis.internal.pubsub;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Wakes claims that have come to the head of their queue and are still there after a while: they send another attempt.
 *
 * <p>Nearly all are served before. So there is one task for all claims. It is never cancelled and mostly finds nothing
 * due: a task for each claim would wake a thread at each hand-off.
 */
final class HeadWakeUps {

    /**
     * Each earlier time needs one more task, and a client with rights to the channel can cause earlier and earlier
     * ones.
     */
    static final int MOST_TASKS = 64;

    private final BiConsumer<Duration, Runnable> later;
    private final LongSupplier nanoTime;
    private final Consumer<String> wake;

    /** The number of tasks that have not run yet. */
    private final AtomicInteger planned = new AtomicInteger();

    /** When each claim sends its attempt. */
    private final ConcurrentMap<String, Long> due = new ConcurrentHashMap<>();

    /** The task that runs first; null for none. */
    private final AtomicReference<@Nullable Task> first = new AtomicReference<>();

    private final class Task implements Runnable {

        final long atNanos;

        Task(long atNanos) {
            this.atNanos = atNanos;
        }

        @Override
        public void run() {
            planned.decrementAndGet();
            if (first.compareAndSet(this, null)) { // else an earlier task has planned the next one
                attemptNow();
            }
        }
    }

    /**
     * Begins without claims.
     *
     * @param later runs a task after a pause
     * @param wake receives the id of a claim that is to send an attempt
     */
    HeadWakeUps(BiConsumer<Duration, Runnable> later, LongSupplier nanoTime, Consumer<String> wake) {
        this.later = later;
        this.nanoTime = nanoTime;
        this.wake = wake;
    }

    /** Adds a claim. A claim that is there already is woken at the earlier of the two times. */
    void add(String claimId, Duration within) {
        long at = nanoTime.getAsLong() + within.toNanos();
        if (due.merge(claimId, at, (known, other) -> other - known < 0 ? other : known) == at) {
            arm(at);
        }
    }

    void remove(String claimId) {
        due.remove(claimId);
    }

    /** Plans a task. With too many tasks, the attempt is sent when the first of them runs. */
    private void arm(long atNanos) {
        Task known = first.get();
        while (known == null || (atNanos - known.atNanos < 0 && planned.get() < MOST_TASKS)) {
            Task mine = new Task(atNanos);
            if (first.compareAndSet(known, mine)) {
                planned.incrementAndGet();
                later.accept(Duration.ofNanos(Math.max(0, atNanos - nanoTime.getAsLong())), mine);
                return; // a replaced task runs as well, and does nothing
            }
            known = first.get();
        }
    }

    private void attemptNow() {
        long now = nanoTime.getAsLong();
        due.forEach((claimId, at) -> {
            if (at - now > 0) {
                arm(at);
            } else if (due.remove(claimId, at)) {
                wake.accept(claimId);
            }
        });
    }
}
