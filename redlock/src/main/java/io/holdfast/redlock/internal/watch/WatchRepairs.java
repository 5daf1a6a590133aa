package io.holdfast.redlock.internal.watch;

import io.holdfast.redlock.internal.master.Masters;
import io.holdfast.redlock.internal.quorum.JitteredBackoff;
import io.holdfast.spi.support.Printable;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.IntConsumer;
import java.util.stream.Stream;
import reactor.core.Disposable;
import reactor.core.Disposables;

/**
 * Repeats the watch of a master after it has failed, with growing pauses: a waiter may wait for hours, and must not
 * miss the signals of a master that could not be watched for a moment. Thread-safe.
 */
final class WatchRepairs {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
    private static final int MOST_DOUBLINGS = 6;

    /** The longest pause. A watch that lasted that long has recovered. */
    private static final long RECOVERED_NANOS = FIRST_PAUSE.toNanos() << MOST_DOUBLINGS;

    private final Masters masters;
    private final IntConsumer watchAgain;
    private final List<Disposable.Swap> pauses;

    /** 1 for a master in such a pause: another watch of it that fails, under a new id, begins no pause of its own. */
    private final AtomicIntegerArray isPausing;

    /**
     * Failures in a row, by master. A signal does not end the row: a master may signal that the watch is armed, and
     * fail at once.
     */
    private final AtomicIntegerArray failures;

    /** When the watch of each master was last begun, or begun again after a pause. */
    private final AtomicLongArray begunAt;

    WatchRepairs(Masters masters, long begunAtNanos, IntConsumer watchAgain) {
        this.masters = masters;
        this.watchAgain = watchAgain;
        int size = masters.size();
        pauses = Stream.generate(Disposables::swap).limit(size).toList();
        isPausing = new AtomicIntegerArray(size);
        failures = new AtomicIntegerArray(size);
        begunAt = new AtomicLongArray(size);
        masters.all().forEach(master -> begunAt.set(master, begunAtNanos));
    }

    void repair(int master) {
        if (!isPausing.compareAndSet(master, 0, 1)) {
            return;
        }
        if (masters.now() - begunAt.get(master) >= RECOVERED_NANOS) {
            failures.set(master, 0);
        }
        Duration pause = JitteredBackoff.afterFailures(
                FIRST_PAUSE, Math.min(MOST_DOUBLINGS, failures.getAndIncrement(master)), masters.random());
        try {
            boolean unused = pauses.get(master)
                    .replace(masters.timer().schedule(() -> repairNow(master), pause.toNanos(), TimeUnit.NANOSECONDS));
        } catch (RejectedExecutionException disposed) {
            Masters.LOG.debug(
                    "{} is not watched again: the timer was disposed of", Printable.text(masters.name(master)));
        }
    }

    private void repairNow(int master) {
        begunAt.set(master, masters.now());
        isPausing.set(master, 0);
        watchAgain.accept(master);
    }

    void stop() {
        pauses.forEach(Disposable::dispose);
    }
}
