package io.holdfast.testkit.history;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.LockKey;
import io.holdfast.testkit.history.HistoryEvent.What;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Records what one process does with locks. Thread-safe. The caller gives all times, in nanoseconds of a monotonic
 * clock that all processes of the history share. It times an action before it begins, and an observation after it was
 * made. There are two exceptions: it times the emission of a lease as late as possible, and the end of its validity as
 * early as possible. So a belief in the history is never longer than the real one.
 */
public final class HistoryRecorder {

    private final String process;
    private final Consumer<HistoryEvent> sink;
    private final @Nullable Queue<HistoryEvent> memory;
    private final AtomicLong operations = new AtomicLong();

    private HistoryRecorder(String process, Consumer<HistoryEvent> sink, @Nullable Queue<HistoryEvent> memory) {
        if (process.isEmpty()) {
            throw new IllegalArgumentException("process must have a name");
        }
        this.process = process;
        this.sink = sink;
        this.memory = memory;
    }

    /**
     * Returns a recorder that keeps the events in memory.
     *
     * @param process a name, unique in the history: a restarted process has a new one
     * @return a recorder
     */
    public static HistoryRecorder inMemory(String process) {
        Queue<HistoryEvent> events = new ConcurrentLinkedQueue<>();
        return new HistoryRecorder(process, events::add, events);
    }

    /**
     * Returns a recorder that passes the events on.
     *
     * @param process a name, unique in the history
     * @param sink receives the events, on the recording threads, also concurrently
     * @return a recorder
     */
    public static HistoryRecorder to(String process, Consumer<HistoryEvent> sink) {
        return new HistoryRecorder(process, requireNonNull(sink, "sink"), null);
    }

    /**
     * Returns a recorder that writes each event as a line, and flushes it before the call returns. So the event is
     * known even if the process is killed right after.
     *
     * @param process a name, unique in the history
     * @param lines receives the lines, under the recorder's lock; the caller closes it
     * @return a recorder whose calls throw {@link UncheckedIOException} when a line cannot be written
     */
    public static HistoryRecorder lines(String process, Writer lines) {
        requireNonNull(lines, "lines");
        return new HistoryRecorder(process, event -> write(event, lines), null);
    }

    private static void write(HistoryEvent event, Writer lines) {
        String line = event.line() + '\n';
        synchronized (lines) {
            try {
                lines.write(line);
                lines.flush();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /**
     * Returns the events so far.
     *
     * @return a copy; empty unless this recorder keeps events in memory
     */
    public List<HistoryEvent> events() {
        return memory == null ? List.of() : List.copyOf(memory);
    }

    /**
     * Records that a subscriber requests an acquisition.
     *
     * @param nanos the time before the subscription
     * @param lock the lock
     * @return the number of the acquisition in this process, for its later events
     */
    public long asked(long nanos, LockKey lock) {
        return asked(nanos, lock, 1);
    }

    /**
     * Records that a subscriber requests an acquisition.
     *
     * @param nanos the time before the subscription
     * @param lock the lock
     * @param permits how many permits of a semaphore it takes; 1 for other kinds
     * @return the number of the acquisition in this process, for its later events
     */
    public long asked(long nanos, LockKey lock, int permits) {
        long operation = operations.incrementAndGet();
        sink.accept(new HistoryEvent(nanos, process, operation, What.ASKED, lock, 0, permits == 1 ? 0 : permits, ""));
        return operation;
    }

    /**
     * Records that a subscriber requests the adoption of a lease that was handed on, or a downgrade. The caller records
     * the belief in the former lease separately.
     *
     * @param nanos the time before the subscription
     * @param lock the lock; after a downgrade its read side
     * @param token the token of the former lease
     * @return the number of the acquisition in this process, for its later events
     */
    public long goesOn(long nanos, LockKey lock, long token) {
        long operation = operations.incrementAndGet();
        sink.accept(new HistoryEvent(nanos, process, operation, What.ASKED, lock, token, 0, ""));
        return operation;
    }

    /**
     * Records that the acquisition has a place in the server's queue.
     *
     * @param nanos the time after that was known
     * @param operation the acquisition
     */
    public void queued(long nanos, long operation) {
        record(nanos, operation, What.QUEUED, 0, 0, "");
    }

    /**
     * Records that a fault may cost the acquisition its place in the queue.
     *
     * @param nanos the time before the fault
     * @param operation the acquisition
     * @param why the fault
     */
    public void placeUnsure(long nanos, long operation, String why) {
        record(nanos, operation, What.PLACE_UNSURE, 0, 0, why);
    }

    /**
     * Records that the lease was emitted.
     *
     * @param nanos the time, as late as possible: read in the first operator after that of the lock
     * @param operation the acquisition
     * @param token its fencing token
     * @param validUntil the end of the validity as the lease reports it: the time before the call of
     *     {@code remaining()}, plus its result; 0 without a call
     */
    public void acquired(long nanos, long operation, long token, long validUntil) {
        record(nanos, operation, What.ACQUIRED, token, validUntil, "");
    }

    /**
     * Records that the lease was valid.
     *
     * @param nanos the time before the call
     * @param operation the acquisition
     * @param validUntil the end of the validity as the lease reports it: that time plus {@code remaining()}
     */
    public void valid(long nanos, long operation, long validUntil) {
        record(nanos, operation, What.VALID, 0, validUntil, "");
    }

    /**
     * Records that the lease was seen to be invalid.
     *
     * @param nanos the time before the call
     * @param operation the acquisition
     */
    public void invalid(long nanos, long operation) {
        record(nanos, operation, What.INVALID, 0, 0, "");
    }

    /**
     * Records that the release is called, or that the scope that calls it ends.
     *
     * @param nanos the time before the call
     * @param operation the acquisition
     */
    public void releaseAsked(long nanos, long operation) {
        record(nanos, operation, What.RELEASE_ASKED, 0, 0, "");
    }

    /**
     * Records that the release was confirmed. Without a confirmation the outcome stays unknown, and the caller records
     * nothing.
     *
     * @param nanos the time after that
     * @param operation the acquisition
     */
    public void released(long nanos, long operation) {
        record(nanos, operation, What.RELEASED, 0, 0, "");
    }

    /**
     * Records that the loss was signalled.
     *
     * @param nanos the time before the handler does anything
     * @param operation the acquisition
     * @param reason the reason
     */
    public void lost(long nanos, long operation, String reason) {
        record(nanos, operation, What.LOST, 0, 0, reason);
    }

    /**
     * Records that the acquisition ended without a lease.
     *
     * @param nanos the time before the cancellation, or after the signal of the end
     * @param operation the acquisition
     * @param how for example empty, timeout, cancelled; begins with {@link RecoveryCheck#FAILED} for an error of the
     *     lock
     */
    public void ended(long nanos, long operation, String how) {
        record(nanos, operation, What.ENDED, 0, 0, how);
    }

    /**
     * Records that a fenced register has taken a write.
     *
     * @param nanos the time
     * @param operation the acquisition whose token was sent
     * @param token the token
     * @param order the number of this write in the order of the register, from 1
     */
    public void written(long nanos, long operation, long token, long order) {
        record(nanos, operation, What.WRITTEN, token, order, "");
    }

    /**
     * Records that a fenced register has refused a write.
     *
     * @param nanos the time
     * @param operation the acquisition whose token was sent
     * @param token the token
     */
    public void refused(long nanos, long operation, long token) {
        record(nanos, operation, What.REFUSED, token, 0, "");
    }

    /**
     * Records that the outcome of a write to a fenced register is unknown.
     *
     * @param nanos the time
     * @param operation the acquisition whose token was sent
     * @param token the token
     */
    public void writeUnknown(long nanos, long operation, long token) {
        record(nanos, operation, What.WRITE_UNKNOWN, token, 0, "");
    }

    /**
     * Records that no fault is injected after this.
     *
     * @param nanos the time when everything worked again
     */
    public void faultsEnded(long nanos) {
        record(nanos, 0, What.FAULTS_ENDED, 0, 0, "");
    }

    /**
     * Records that data was left at the back end although all had ended.
     *
     * @param nanos the time when it was found
     * @param what a description, such as the name of a key
     */
    public void left(long nanos, String what) {
        record(nanos, 0, What.LEFT, 0, 0, what);
    }

    private void record(long nanos, long operation, What what, long token, long value, String note) {
        sink.accept(new HistoryEvent(nanos, process, operation, what, null, token, value, note));
    }
}
