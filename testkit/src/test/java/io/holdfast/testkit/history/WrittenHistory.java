package io.holdfast.testkit.history;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockKind;
import io.holdfast.spi.LockKey;
import java.util.ArrayList;
import java.util.List;

/**
 * Histories written by hand: which process held which lock and when, in milliseconds, with one process for each
 * acquisition.
 */
final class WrittenHistory {

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

    /** Returns a new process. */
    HistoryRecorder process() {
        processes++;
        return HistoryRecorder.to("p" + processes, events::add);
    }

    /** Records a request, an emission and a release at these times; the validity lasts longer. */
    @CanIgnoreReturnValue
    WrittenHistory held(LockKey lock, long asked, long acquired, long released, long token) {
        return held(1, lock, asked, acquired, released, token);
    }

    /** The same, with a number of permits. */
    @CanIgnoreReturnValue
    WrittenHistory held(int permits, LockKey lock, long asked, long acquired, long released, long token) {
        HistoryRecorder process = process();
        long op = process.asked(ms(asked), lock, permits);
        process.acquired(ms(acquired), op, token, ms(released + 1_000));
        process.releaseAsked(ms(released), op);
        return this;
    }

    /** Like {@link #held}, for an operation that continues the lease with this token. */
    @CanIgnoreReturnValue
    WrittenHistory heldOn(LockKey lock, long asked, long acquired, long released, long goesOnWith, long token) {
        HistoryRecorder process = process();
        long op = process.goesOn(ms(asked), lock, goesOnWith);
        process.acquired(ms(acquired), op, token, ms(released + 1_000));
        process.releaseAsked(ms(released), op);
        return this;
    }

    /** Records a place in the queue and an emission at these times. */
    @CanIgnoreReturnValue
    WrittenHistory queued(LockKey lock, long asked, long queued, long acquired) {
        return queued(1, lock, asked, queued, acquired);
    }

    /** The same, with a number of permits. */
    @CanIgnoreReturnValue
    WrittenHistory queued(int permits, LockKey lock, long asked, long queued, long acquired) {
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
