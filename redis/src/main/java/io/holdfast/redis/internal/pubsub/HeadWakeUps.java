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

    /** When each claim sends its attempts. */
    private final ConcurrentMap<String, Due> due = new ConcurrentHashMap<>();

    /** The task that runs first; null for none. */
    private final AtomicReference<@Nullable Task> first = new AtomicReference<>();

    /**
     * The earliest and the latest of the times that a claim was given. At the earliest, the server may answer that its
     * turn is far away, since the server has told it the latest time.
     */
    private record Due(long firstNanos, long lastNanos) {

        Due and(Due other) {
            return new Due(
                    other.firstNanos - firstNanos < 0 ? other.firstNanos : firstNanos,
                    other.lastNanos - lastNanos > 0 ? other.lastNanos : lastNanos);
        }
    }

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

    /** Adds a claim. A claim that is there already is woken at the earliest and at the latest of its times. */
    void add(String claimId, Duration within) {
        long at = nanoTime.getAsLong() + within.toNanos();
        if (due.merge(claimId, new Due(at, at), Due::and).firstNanos() == at) {
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
        due.keySet().forEach(claimId -> attemptIfDue(claimId, now));
    }

    /** Begins again if the claim gets another time meanwhile. */
    private void attemptIfDue(String claimId, long now) {
        for (Due times = due.get(claimId); times != null; times = due.get(claimId)) {
            long last = times.lastNanos();
            if (times.firstNanos() - now > 0) {
                arm(times.firstNanos());
                return;
            }
            boolean isLast = last - now <= 0;
            if (isLast ? due.remove(claimId, times) : due.replace(claimId, times, new Due(last, last))) {
                if (!isLast) {
                    arm(last);
                }
                wake.accept(claimId);
                return;
            }
        }
    }
}
