package io.holdfast.blocking;

import io.holdfast.spi.support.Printable;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.util.context.Context;

/**
 * What one thread holds and does through blocking locks, of all clients. The thread itself adds to it. Other threads
 * close leases and signal losses.
 *
 * <p>A thread has one interrupt flag for all reasons to interrupt it. So the flag is set and cleared under one monitor
 * for all work of the thread: a loss interrupts running work only, and the last work that was lost clears the flag.
 */
final class HeldByThread {

    /** A lease, or work under one. */
    interface Entry {

        /** Returns the Reactor Context of an acquisition inside this; null if the lease is not reachable any more. */
        @Nullable
        Context within(Context outer);
    }

    private static final ThreadLocal<HeldByThread> RECORD = new ThreadLocal<>();

    private final Thread thread = Thread.currentThread();

    // Guarded by this.
    private final List<Entry> entries = new ArrayList<>();

    /** Whether the interrupt of a loss was sent, and is not cleared yet. */
    private boolean hasInterrupted;

    // While the thread waits in spite of an interrupt: whether there is one, and whether it is not that of a loss.
    private boolean isAside;
    private boolean isAnotherAside;

    private HeldByThread() {}

    static HeldByThread current() {
        HeldByThread known = RECORD.get();
        return known == null ? new HeldByThread() : known;
    }

    /** Returns the Reactor Context for an acquisition by this thread: it has all leases, the last one innermost. */
    synchronized Context context() {
        Context context = Context.empty();
        for (Entry entry : List.copyOf(entries)) {
            Context inside = entry.within(context);
            if (inside == null) {
                entries.remove(entry); // a lease that was dropped: the client releases it
            } else {
                context = inside;
            }
        }
        return context;
    }

    synchronized void add(Entry entry) {
        entries.add(entry);
        RECORD.set(this);
    }

    /** Called by any thread. */
    synchronized void remove(Entry entry) {
        entries.remove(entry);
        if (entries.isEmpty() && Thread.currentThread() == thread) {
            RECORD.remove();
        }
    }

    /**
     * Refuses an acquisition of permits that would wait for the end of work around it, on this thread.
     *
     * @throws IllegalStateException if the work around it has too many of them
     */
    synchronized void refuseWaitForItself(List<Permits> wanted) {
        for (Permits one : wanted) {
            int taken = entries.stream()
                    .filter(entry -> entry instanceof Work<?> work && !work.isLost)
                    .flatMap(entry -> ((Work<?>) entry).permits().stream())
                    .filter(one::isSameSemaphore)
                    .mapToInt(Permits::taken)
                    .sum();
            if (one.taken() > one.all() - taken) {
                throw new IllegalStateException(
                        "semaphore '%s' has %d permits, and work on this thread holds %d of them: an acquisition of %d inside that work would wait for itself; take all permits in one lease"
                                .formatted(Printable.text(one.name()), one.all(), taken, one.taken()));
            }
        }
    }

    /** Returns false if the lease was lost before: the work must not begin. */
    synchronized boolean begin(Work<?> work) {
        if (work.isLost) {
            return false;
        }
        work.isRunning = true;
        add(work);
        return true;
    }

    /** Called by the thread of the loss. Interrupts the work if it runs. */
    synchronized void lost(Work<?> work) {
        work.isLost = true;
        if (work.isRunning) {
            interrupt();
        }
    }

    /** An interrupt that is pending already is enough, and belongs to whatever has sent it. */
    private void interrupt() {
        if (!isAnotherAside && !thread.isInterrupted()) {
            hasInterrupted = true;
            thread.interrupt();
        }
    }

    /**
     * Ends the work: no loss interrupts it from now on. Clears the interrupt of a loss, unless work around it is lost
     * too.
     *
     * @return whether a loss has interrupted the thread
     */
    synchronized boolean end(Work<?> work) {
        work.isRunning = false;
        remove(work);
        boolean wasOurs = hasInterrupted;
        if (entries.stream().anyMatch(entry -> entry instanceof Work<?> outer && outer.isLost)) {
            if (work.isLost) {
                interrupt(); // the work inside may have used up the interrupt of both
            }
        } else if (wasOurs) {
            hasInterrupted = false;
            boolean unused = Thread.interrupted();
        }
        return wasOurs;
    }

    /** The thread goes on to wait: called when that has cleared the flag. */
    synchronized void putInterruptAside() {
        isAside = true;
        isAnotherAside |= !hasInterrupted;
    }

    synchronized void putBackInterrupt() {
        if (isAside) {
            isAside = false;
            isAnotherAside = false;
            thread.interrupt();
        }
    }
}
