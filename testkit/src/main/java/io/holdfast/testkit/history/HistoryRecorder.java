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
 * Writes down what one process does with locks. Thread-safe. All times are nanoseconds of a monotonic clock that all processes of the
 * history share, and are given by the caller: what begins is timed before it is done, what was seen is timed after it was seen, except the
 * emission of a lease and the end of its validity, which are to be timed as late as possible and as early as possible. So whatever the
 * history says is believed was believed.
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
     * Keeps the events in memory.
     *
     * @param process its name, unique in the history: a process that is started again has another one
     * @return a recorder
     */
    public static HistoryRecorder inMemory(String process) {
        Queue<HistoryEvent> events = new ConcurrentLinkedQueue<>();
        return new HistoryRecorder(process, events::add, events);
    }

    /**
     * Passes the events on.
     *
     * @param process its name, unique in the history
     * @param sink called on the threads that record, also at the same time
     * @return a recorder
     */
    public static HistoryRecorder to(String process, Consumer<HistoryEvent> sink) {
        return new HistoryRecorder(process, requireNonNull(sink, "sink"), null);
    }

    /**
     * Writes each event as a line, flushed before the call returns: what was done is known even if the process is killed right after.
     *
     * @param process its name, unique in the history
     * @param lines stays the caller's to close; written to under the recorder's lock
     * @return a recorder, whose calls throw {@link UncheckedIOException} when a line cannot be written
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
     * The events so far.
     *
     * @return a copy; empty unless this keeps them in memory
     */
    public List<HistoryEvent> events() {
        return memory == null ? List.of() : List.copyOf(memory);
    }

    /**
     * An acquisition is subscribed to.
     *
     * @param nanos before the subscription
     * @param lock which lock
     * @return the number of the acquisition in this process, for all that follows about it
     */
    public long asked(long nanos, LockKey lock) {
        return asked(nanos, lock, 1);
    }

    /**
     * An acquisition is subscribed to.
     *
     * @param nanos before the subscription
     * @param lock which lock
     * @param permits how many permits of a semaphore it takes; 1 for other kinds
     * @return the number of the acquisition in this process, for all that follows about it
     */
    public long asked(long nanos, LockKey lock, int permits) {
        long operation = operations.incrementAndGet();
        sink.accept(new HistoryEvent(nanos, process, operation, What.ASKED, lock, 0, permits == 1 ? 0 : permits, ""));
        return operation;
    }

    /**
     * An adoption of a lease that was handed on is subscribed to, or a downgrade. The belief in the lease before is recorded by itself.
     *
     * @param nanos before the subscription
     * @param lock which lock; after a downgrade its read side
     * @param token of the lease before
     * @return the number of the acquisition in this process, for all that follows about it
     */
    public long goesOn(long nanos, LockKey lock, long token) {
        long operation = operations.incrementAndGet();
        sink.accept(new HistoryEvent(nanos, process, operation, What.ASKED, lock, token, 0, ""));
        return operation;
    }

    /**
     * The acquisition has a place in the server's queue.
     *
     * @param nanos after that was known
     * @param operation the acquisition
     */
    public void queued(long nanos, long operation) {
        record(nanos, operation, What.QUEUED, 0, 0, "");
    }

    /**
     * A fault may cost the acquisition its place in the queue.
     *
     * @param nanos before the fault
     * @param operation the acquisition
     * @param why the fault
     */
    public void placeUnsure(long nanos, long operation, String why) {
        record(nanos, operation, What.PLACE_UNSURE, 0, 0, why);
    }

    /**
     * The lease was emitted.
     *
     * @param nanos as late as possible: read in the first operator after the lock's
     * @param operation the acquisition
     * @param token its fencing token
     * @param validUntil until when the lease says it is valid: the time before {@code remaining()} was asked, plus that; 0 if not asked
     */
    public void acquired(long nanos, long operation, long token, long validUntil) {
        record(nanos, operation, What.ACQUIRED, token, validUntil, "");
    }

    /**
     * The lease was valid.
     *
     * @param nanos before it was asked
     * @param operation the acquisition
     * @param validUntil until when it says it is valid: that time plus {@code remaining()}
     */
    public void valid(long nanos, long operation, long validUntil) {
        record(nanos, operation, What.VALID, 0, validUntil, "");
    }

    /**
     * The lease was seen not to be valid any more.
     *
     * @param nanos before it was asked
     * @param operation the acquisition
     */
    public void invalid(long nanos, long operation) {
        record(nanos, operation, What.INVALID, 0, 0, "");
    }

    /**
     * The release is called, or the end of the scope that calls it is reached.
     *
     * @param nanos before the call
     * @param operation the acquisition
     */
    public void releaseAsked(long nanos, long operation) {
        record(nanos, operation, What.RELEASE_ASKED, 0, 0, "");
    }

    /**
     * The release was confirmed. One that was not stays unknown: nothing is to be recorded then.
     *
     * @param nanos after that
     * @param operation the acquisition
     */
    public void released(long nanos, long operation) {
        record(nanos, operation, What.RELEASED, 0, 0, "");
    }

    /**
     * The loss was signalled.
     *
     * @param nanos before the handler does anything
     * @param operation the acquisition
     * @param reason why
     */
    public void lost(long nanos, long operation, String reason) {
        record(nanos, operation, What.LOST, 0, 0, reason);
    }

    /**
     * The acquisition ended without a lease.
     *
     * @param nanos before it was left, or after its end was signalled
     * @param operation the acquisition
     * @param how such as empty, timeout, cancelled; begins with {@link RecoveryCheck#FAILED} for an error of the lock
     */
    public void ended(long nanos, long operation, String how) {
        record(nanos, operation, What.ENDED, 0, 0, how);
    }

    /**
     * A fenced register has taken a write.
     *
     * @param nanos when
     * @param operation the acquisition whose token was presented
     * @param token that token
     * @param order the number of this write in the order of the register, from 1
     */
    public void written(long nanos, long operation, long token, long order) {
        record(nanos, operation, What.WRITTEN, token, order, "");
    }

    /**
     * A fenced register has refused a write.
     *
     * @param nanos when
     * @param operation the acquisition whose token was presented
     * @param token that token
     */
    public void refused(long nanos, long operation, long token) {
        record(nanos, operation, What.REFUSED, token, 0, "");
    }

    /**
     * Whether a fenced register has taken a write is not known.
     *
     * @param nanos when
     * @param operation the acquisition whose token was presented
     * @param token that token
     */
    public void writeUnknown(long nanos, long operation, long token) {
        record(nanos, operation, What.WRITE_UNKNOWN, token, 0, "");
    }

    /**
     * No fault is injected after this.
     *
     * @param nanos when all was well again
     */
    public void faultsEnded(long nanos) {
        record(nanos, 0, What.FAULTS_ENDED, 0, 0, "");
    }

    /**
     * Something was left in the store although all had ended.
     *
     * @param nanos when it was seen
     * @param what such as the name of a key
     */
    public void left(long nanos, String what) {
        record(nanos, 0, What.LEFT, 0, 0, what);
    }

    private void record(long nanos, long operation, What what, long token, long value, String note) {
        sink.accept(new HistoryEvent(nanos, process, operation, what, null, token, value, note));
    }
}
