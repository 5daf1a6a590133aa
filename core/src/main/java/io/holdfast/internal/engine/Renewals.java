package io.holdfast.internal.engine;

import io.holdfast.LockBackendException;
import io.holdfast.internal.timing.Turn;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.support.Fallible;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.util.context.Context;

/**
 * Sends the renewals that are due at the same time together.
 *
 * <p>Leases of one batch have similar time limits, so that a short limit does not end the request of the others. After
 * each failure a lease goes out in a batch of half the size, down to one. So a slow server gets smaller requests, and
 * one bad claim cannot fail the others for long.
 *
 * <p>Requests in flight are bounded. A lease beyond the bound waits until a request ends, at the latest by its time
 * limit, and goes out then; its deadline does not change.
 */
public final class Renewals {

    private static final Logger LOG = LoggerFactory.getLogger(Renewals.class);

    /** Room for 16 000 leases; more requests do not help a server that is slower than that. */
    private static final int MOST_IN_FLIGHT = 32;

    /** A batch of this size keeps a Redis server busy for about as long as one network round trip. */
    private static final int LARGEST = 500;

    private static final Comparator<Renewable> BY_LIMIT_THEN_FAILURES = Comparator.<Renewable>comparingLong(
                    lease -> lease.lock().operationNanos())
            .thenComparingInt(Renewable::renewalFailures);

    private final Engine engine;
    private final Queue<Renewable> due = new ConcurrentLinkedQueue<>();
    private final AtomicInteger inFlight = new AtomicInteger();

    /** Counts the reasons to send; the thread that raises it from zero sends. */
    private final AtomicInteger reasons = new AtomicInteger();

    private final Runnable send = this::send;
    private final Runnable sendAll = this::sendAll;

    /** The batches beyond the bound, in the order in which they go out. Used by the sending thread. */
    private Deque<List<Renewable>> waiting = new ArrayDeque<>();

    private volatile boolean isWaiting;

    Renewals(Engine engine) {
        this.engine = engine;
    }

    public void add(Renewable lease) {
        due.add(lease);
    }

    /** Called when all alarms of one moment have rung, and when a request has ended. */
    public void flush() {
        if ((isWaiting || !due.isEmpty()) && reasons.getAndIncrement() == 0) {
            Turn.take(sendAll); // users' code that an answer causes must not delay the next request
        }
    }

    private void sendAll() {
        int seen = reasons.get();
        do {
            Fallible.run(send, LOG, "renewals could not be sent");
            seen = reasons.addAndGet(-seen);
        } while (seen != 0);
    }

    private void send() {
        int free = MOST_IN_FLIGHT - inFlight.get();
        if (free <= 0) {
            return; // a request that ends calls flush again
        }
        if (!due.isEmpty()) {
            // Leases that are due now may have shorter time limits than the waiting ones.
            waiting = batches(takeDue(), free);
        }
        isWaiting = true; // a request may end before it has been sent, and then flushes for the waiting batches
        while (free > 0 && !waiting.isEmpty()) {
            List<Renewable> batch = waiting.remove();
            batch.removeIf(lease -> !lease.startsRenewal());
            if (!batch.isEmpty()) {
                free--;
                inFlight.incrementAndGet();
                Renewable first = batch.get(0); // it has the shortest limit
                Batch request = new Batch(batch, engine.alarms.now());
                BackendCall.start(first.lock(), Context.empty(), request, request.sentAtNanos);
            }
        }
        isWaiting = !waiting.isEmpty();
    }

    private List<Renewable> takeDue() {
        List<Renewable> taken = new ArrayList<>();
        waiting.forEach(taken::addAll);
        for (Renewable lease = due.poll(); lease != null; lease = due.poll()) {
            taken.add(lease);
        }
        return taken;
    }

    /** With many failed leases, batches are larger rather than wait for each other. */
    private static Deque<List<Renewable>> batches(List<Renewable> due, int free) {
        due.sort(BY_LIMIT_THEN_FAILURES);
        int least = Math.min(LARGEST, (due.size() + free - 1) / free);
        Deque<List<Renewable>> batches = new ArrayDeque<>();
        int from = 0;
        for (int to = 1; to <= due.size(); to++) {
            if (to == due.size() || !fits(due.get(from), due.get(to), to - from, least)) {
                batches.add(new ArrayList<>(due.subList(from, to)));
                from = to;
            }
        }
        return batches;
    }

    /** A lease may give up at most a fifth of its time limit. */
    private static boolean fits(Renewable first, Renewable next, int size, int least) {
        long limit = first.lock().operationNanos();
        int most = Math.max(least, LARGEST >> Math.min(next.renewalFailures(), 30));
        return next.lock().operationNanos() <= limit + limit / 4 && size < Math.max(1, most);
    }

    private static LockBackendException unreadable(String lockName, Throwable defect) {
        return new LockBackendException(
                lockName,
                "the answer to the renewal of lock '%s' met something unexpected: %s".formatted(lockName, defect),
                false,
                defect);
    }

    /** One request. Each answer counts when it arrives; a failure is one of the leases without an answer. */
    private final class Batch implements BackendCall.Request<Renewal> {

        private final List<Renewable> leases;
        private final long sentAtNanos;

        // These fields are used by the back end's thread only; its signals are serial.
        private int next;
        private final List<Renewable> unknown = new ArrayList<>();
        private @Nullable LockBackendException whyUnknown;

        Batch(List<Renewable> leases, long sentAtNanos) {
            this.leases = leases;
            this.sentAtNanos = sentAtNanos;
        }

        @Override
        public int expected() {
            return leases.size();
        }

        @Override
        public String what() {
            return leases.size() == 1 ? "renewal" : "renewal (with %d others)".formatted(leases.size() - 1);
        }

        @Override
        public Publisher<Renewal> ask() {
            return leases.size() == 1
                    ? engine.backend.renew(leases.get(0).renewal())
                    : engine.backend.renewAll(
                            leases.stream().map(Renewable::renewal).toList());
        }

        @Override
        public void answered(Renewal answer) {
            Renewable lease = leases.get(next++);
            if (answer instanceof Renewal.Unknown it) {
                unknown.add(lease);
                whyUnknown = whyUnknown == null ? it.failure() : whyUnknown;
            }
            try {
                lease.renewalAnswered(sentAtNanos, answer);
            } catch (Throwable unreadable) {
                lease.renewalFailed(unreadable(lease.lock().name(), unreadable));
            }
            if (next == leases.size()) {
                if (whyUnknown != null) {
                    engine.events.renewalsFailed(unknown, whyUnknown, engine.alarms.now());
                }
                ended();
            }
        }

        @Override
        public void failed(LockBackendException error, int answered) {
            List<Renewable> rest = leases.subList(answered, leases.size());
            engine.events.renewalsFailed(rest, error, engine.alarms.now());
            rest.forEach(lease -> lease.renewalFailed(error));
            ended();
        }

        private void ended() {
            inFlight.decrementAndGet();
            flush();
        }
    }
}
