package io.holdfast.benchmarks.load;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Waits for cycles of running lanes. Between two invocations the lanes continue, and their cycles count for the next invocation. So the pause between
 * two readings distorts only the ends of an iteration. For one thread.
 */
final class Progress {

    private static final long POLL_NANOS = 1_000_000;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final LongSupplier done;
    private final Supplier<@Nullable Throwable> failure;
    private long target;

    Progress(LongSupplier done, Supplier<@Nullable Throwable> failure) {
        this.done = done;
        this.failure = failure;
    }

    /** Forgets all earlier cycles. */
    void restart() {
        target = done.getAsLong();
    }

    /**
     * Waits for the given number of further cycles.
     *
     * @throws IllegalStateException if a lane has failed, or no cycle ended for a minute
     */
    void await(long more) {
        target += more;
        long seen = -1;
        long since = System.nanoTime();
        for (long now = done.getAsLong(); now < target; now = done.getAsLong()) {
            Throwable broken = failure.get();
            if (broken != null) {
                throw new IllegalStateException("a lane has failed", broken);
            }
            if (now != seen) {
                seen = now;
                since = System.nanoTime();
            } else if (System.nanoTime() - since > PATIENCE.toNanos()) {
                throw new IllegalStateException("no cycle ended within " + PATIENCE);
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }
}
