package io.holdfast.testkit.history;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import java.util.ArrayList;
import java.util.List;

/** Histories by hand: who held what from when to when, in milliseconds for the reader, one process for each acquisition. */
final class Told {

    static final LockKey MUTEX = LockKey.of(LockKind.MUTEX, "stock");
    static final LockKey READ = LockKey.of(LockKind.READ, "stock");
    static final LockKey WRITE = LockKey.of(LockKind.WRITE, "stock");

    private final List<HistoryEvent> events = new ArrayList<>();
    private int processes;

    static LockKey semaphore(int permits) {
        return new LockKey(LockKind.SEMAPHORE, "stock", permits);
    }

    static long ms(long millis) {
        return millis * 1_000_000;
    }

    /** A process of its own. */
    HistoryRecorder process() {
        processes++;
        return HistoryRecorder.to("p" + processes, events::add);
    }

    /** Asked, emitted and released at these times; the validity goes on after that. */
    @CanIgnoreReturnValue
    Told held(LockKey lock, long asked, long acquired, long released, long token) {
        return held(1, lock, asked, acquired, released, token);
    }

    /** The same, with so many permits. */
    @CanIgnoreReturnValue
    Told held(int permits, LockKey lock, long asked, long acquired, long released, long token) {
        HistoryRecorder process = process();
        long op = process.asked(ms(asked), lock, permits);
        process.acquired(ms(acquired), op, token, ms(released + 1_000));
        process.releaseAsked(ms(released), op);
        return this;
    }

    /** As {@link #held}, of one that goes on with the lease that has this token. */
    @CanIgnoreReturnValue
    Told heldOn(LockKey lock, long asked, long acquired, long released, long goesOnWith, long token) {
        HistoryRecorder process = process();
        long op = process.goesOn(ms(asked), lock, goesOnWith);
        process.acquired(ms(acquired), op, token, ms(released + 1_000));
        process.releaseAsked(ms(released), op);
        return this;
    }

    /** Known to be queued, and emitted, at these times. */
    @CanIgnoreReturnValue
    Told queued(LockKey lock, long asked, long queued, long acquired) {
        return queued(1, lock, asked, queued, acquired);
    }

    /** The same, with so many permits. */
    @CanIgnoreReturnValue
    Told queued(int permits, LockKey lock, long asked, long queued, long acquired) {
        HistoryRecorder process = process();
        long op = process.asked(ms(asked), lock, permits);
        process.queued(ms(queued), op);
        process.acquired(ms(acquired), op, acquired, ms(acquired + 1));
        return this;
    }

    History history() {
        return History.of(events);
    }

    List<Violation> violations(HistoryCheck check) {
        return history().violations(check);
    }
}
