package io.holdfast.proof.hostile;

import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.testkit.history.HistoryRecorder;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One acquisition of a process, as it goes into the history. Times are those of {@link System#nanoTime}, which on Linux is
 * CLOCK_MONOTONIC: one clock for all processes of a machine, as {@link Clients} checks.
 */
final class Operation {

    private final HistoryRecorder recorder;
    private final long number;

    // All guarded by this: a cancellation may come on one thread while the lease arrives on another.
    private @Nullable LockLease lease;
    private long validUntilNanos;
    private boolean hasLeft;

    private Operation(HistoryRecorder recorder, long number) {
        this.recorder = recorder;
        this.number = number;
    }

    static Operation ask(HistoryRecorder recorder, Resource resource) {
        return new Operation(recorder, recorder.asked(System.nanoTime(), resource.key(), resource.permits()));
    }

    long number() {
        return number;
    }

    /**
     * Notes the emission of a lease. A lease may be over when it arrives, because the process stood still after the library's last check. Its grant has no
     * known time, and no client believes in it. The same holds for a lease that arrives after the subscriber has left.
     */
    synchronized void got(LockLease emitted) {
        long now = System.nanoTime();
        Duration remaining = emitted.remaining();
        if (remaining.isZero() || hasLeft) {
            recorder.ended(now, number, hasLeft ? "cancelled" : "over when emitted");
            return;
        }
        validUntilNanos = now + remaining.toNanos();
        recorder.acquired(now, number, emitted.fencingToken(), validUntilNanos);
        lease = emitted;
    }

    /** Reads the clock before {@code remaining()}. So the lease is valid until their sum at least, unless its end is noted. */
    synchronized void sample() {
        if (lease == null || hasLeft) {
            return;
        }
        long now = System.nanoTime();
        Duration remaining = lease.remaining();
        long until = now + remaining.toNanos();
        if (!remaining.isZero() && until > validUntilNanos) {
            validUntilNanos = until;
            recorder.valid(now, number, until);
        }
    }

    /** Notes that the user releases or cancels. The caller does so afterwards; only the first call counts. */
    synchronized void leaves() {
        if (lease != null && !hasLeft) {
            recorder.releaseAsked(System.nanoTime(), number);
        }
        hasLeft = true;
    }

    synchronized void lost(Object reason) {
        if (lease != null) {
            recorder.lost(System.nanoTime(), number, reason.toString());
        }
    }

    synchronized void gave() {
        if (lease != null) {
            recorder.released(System.nanoTime(), number);
        }
    }

    /** Notes the end of the wait. After a lease was emitted, the other methods note what happens. */
    synchronized void ended(String how) {
        if (lease == null) {
            recorder.ended(System.nanoTime(), number, how);
        }
    }

    synchronized void failed(Throwable error) {
        if (error instanceof LockLostException loss) {
            lost(loss.reason());
        }
        ended(error.getClass().getSimpleName());
    }
}
