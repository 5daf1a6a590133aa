package io.holdfast.internal;

import io.holdfast.LockBackendException;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Renewal;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.util.context.Context;

/**
 * Sends the renewals that fall due at the same time together.
 *
 * <p>After a failure a lease goes out in batches of half the size, and so on down to one: a store that is slow gets smaller requests, and
 * one bad claim cannot take the others with it. That is the last resort; a back end can answer for each claim alone.
 */
final class Renewals {

    private static final Logger LOG = LoggerFactory.getLogger("io.holdfast.LockClient");

    /** At this size a batch keeps a Redis server busy for about as long as one network round trip takes. */
    static final int LARGEST_BATCH = 500;

    private final Engine engine;
    private final Queue<HeldLease> due = new ConcurrentLinkedQueue<>();

    Renewals(Engine engine) {
        this.engine = engine;
    }

    void add(HeldLease lease) {
        due.add(lease);
    }

    /** Sends all that was added; called when all alarms of one moment have rung. */
    void flush() {
        List<HeldLease> batch = new ArrayList<>();
        int limit = LARGEST_BATCH;
        for (HeldLease lease = due.poll(); lease != null; lease = due.poll()) {
            if (!lease.isHeld()) {
                continue; // released since: no renewal is sent after that
            }
            int itsLimit = Math.max(1, LARGEST_BATCH >> Math.min(lease.renewalFailures(), 30));
            if (batch.size() >= Math.min(limit, itsLimit)) {
                send(batch);
                batch = new ArrayList<>();
                limit = LARGEST_BATCH;
            }
            limit = Math.min(limit, itsLimit);
            batch.add(lease);
        }
        if (!batch.isEmpty()) {
            send(batch);
        }
    }

    private void send(List<HeldLease> batch) {
        long sentAt = engine.alarms.now();
        long limitNanos = batch.stream()
                .mapToLong(lease -> lease.lock().operationNanos())
                .min()
                .orElseThrow();
        HeldLease first = batch.get(0);
        if (batch.size() == 1) {
            BackendCall.start(
                    engine,
                    first.lock().key().name(),
                    "renewal",
                    limitNanos,
                    Context.empty(),
                    () -> engine.backend.renew(first.claim()),
                    new Outcome<Renewal>(batch) {
                        @Override
                        public void answered(Renewal answer) {
                            first.renewalAnswered(sentAt, answer);
                        }
                    });
            return;
        }
        List<LockClaim> claims = batch.stream().map(HeldLease::claim).toList();
        BackendCall.start(
                engine,
                first.lock().key().name(),
                "renewal (with %d others)".formatted(batch.size() - 1),
                limitNanos,
                Context.empty(),
                () -> engine.backend.renewAll(claims).collectList(),
                new Outcome<List<Renewal>>(batch) {
                    @Override
                    public void answered(List<Renewal> answers) {
                        if (answers.size() != claims.size()) {
                            failed(new LockBackendException(
                                    first.lock().key().name(),
                                    "back end %s answered %d of %d renewals"
                                            .formatted(engine.backend.name(), answers.size(), claims.size()),
                                    true,
                                    null));
                            return;
                        }
                        logUnknown(batch, answers);
                        for (int i = 0; i < answers.size(); i++) {
                            batch.get(i).renewalAnswered(sentAt, answers.get(i));
                        }
                    }
                });
    }

    /** Once for all that a part of the store left without an answer. */
    private static void logUnknown(List<HeldLease> batch, List<Renewal> answers) {
        List<HeldLease> unknown = new ArrayList<>();
        LockBackendException failure = null;
        for (int i = 0; i < answers.size(); i++) {
            if (answers.get(i) instanceof Renewal.Unknown it) {
                unknown.add(batch.get(i));
                failure = failure == null ? it.failure() : failure;
            }
        }
        if (failure != null) {
            logFailed(unknown, failure);
        }
    }

    /** A lease that was released meanwhile needs no renewal, and so no warning. */
    private static void logFailed(List<HeldLease> leases, LockBackendException error) {
        long held = leases.stream().filter(HeldLease::isHeld).count();
        if (held > 0) {
            LOG.warn(
                    "renewal of {} lease(s) failed, will be tried again until their deadline: {}",
                    held,
                    error.getMessage());
        }
    }

    /** A failure is logged once per request and told to each lease. */
    private abstract static class Outcome<T> implements BackendCall.Outcome<T> {

        private final List<HeldLease> batch;

        Outcome(List<HeldLease> batch) {
            this.batch = batch;
        }

        @Override
        public void failed(LockBackendException error) {
            logFailed(batch, error);
            batch.forEach(lease -> lease.renewalFailed(error));
        }
    }
}
