package io.holdfast.benchmarks.load;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Waits for what lanes do anyway. Between two invocations the lanes go on, and what they did then counts for the next, so that the pause
 * between two attempts distorts nothing but the ends of an iteration. For one thread.
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

    /** From now on, what was done before does not count. */
    void restart() {
        target = done.getAsLong();
    }

    /**
     * Until so much more is done.
     *
     * @throws IllegalStateException if a lane has failed, or nothing moved for a minute
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
                throw new IllegalStateException("no cycle has ended within " + PATIENCE);
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }
}
