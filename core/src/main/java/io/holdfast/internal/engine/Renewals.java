package io.holdfast.internal.engine;

import io.holdfast.LockBackendException;
import io.holdfast.internal.run.Drain;
import io.holdfast.internal.run.Turn;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Sends the renewals that are due at the same time together.
 *
 * <p>After each failure a lease goes out in a batch of half the size, down to one. So a slow server gets smaller
 * requests, and one bad claim cannot fail the others for long. That is the last resort; a back end can answer for each
 * claim separately.
 *
 * <p>Requests in flight are bounded. A lease beyond the bound waits until a request ends, at the latest by its time
 * limit, and goes out then; its deadline does not change.
 */
public final class Renewals {

    /**
     * Room for 16 000 leases; for a server that needs longer than their time limit for that many, more requests do not
     * help.
     */
    static final int MOST_IN_FLIGHT = 32;

    private final Engine engine;
    private final Queue<Renewable> due = new ConcurrentLinkedQueue<>();
    private final AtomicInteger inFlight = new AtomicInteger();
    private final Drain sending = new Drain(this::send);

    /** The batches beyond the bound, in the order in which they go out. Used by the sending thread. */
    private Deque<List<Renewable>> waiting = new ArrayDeque<>();

    /** Written by the sending thread. */
    private volatile boolean isWaiting;

    Renewals(Engine engine) {
        this.engine = engine;
    }

    public void add(Renewable lease) {
        due.add(lease);
    }

    /**
     * Sends all added leases for which there is room; called when all alarms of one moment have rung, and when a
     * request has ended.
     */
    public void flush() {
        if ((isWaiting || !due.isEmpty()) && sending.isDue()) {
            Turn.take(sending); // users' code that an answer causes must not delay the next request
        }
    }

    private void send() {
        int free = MOST_IN_FLIGHT - inFlight.get();
        if (free <= 0) {
            return; // a request that ends calls flush again
        }
        if (!due.isEmpty()) {
            // Leases that are due now may have shorter time limits than the waiting ones.
            waiting = new ArrayDeque<>(RenewalBatches.of(takeDue(), free));
        }
        isWaiting = true; // a request may end before it has been sent, and then flushes for the waiting batches
        while (free > 0 && !waiting.isEmpty()) {
            List<Renewable> batch = waiting.remove();
            batch.removeIf(lease -> !isToBeSent(lease));
            if (!batch.isEmpty()) {
                free--;
                inFlight.incrementAndGet();
                RenewalBatch.send(engine, batch, this::ended);
            }
        }
        isWaiting = !waiting.isEmpty();
    }

    /** Takes the due leases and the waiting ones. */
    private List<Renewable> takeDue() {
        List<Renewable> taken = new ArrayList<>();
        waiting.forEach(taken::addAll);
        for (Renewable lease = due.poll(); lease != null; lease = due.poll()) {
            taken.add(lease);
        }
        return taken;
    }

    /** A lease that was released since is not renewed any more. */
    private static boolean isToBeSent(Renewable lease) {
        if (lease.isToBeRenewed()) {
            return true;
        }
        lease.renewalNotSent();
        return false;
    }

    private void ended() {
        inFlight.decrementAndGet();
        flush();
    }

    /** Returns a failure for an answer that no back end should give. */
    public static LockBackendException unreadable(String lockName, Throwable defect) {
        return new LockBackendException(
                lockName,
                "the answer to the renewal of lock '%s' met something unexpected: %s".formatted(lockName, defect),
                false,
                defect);
    }
}
