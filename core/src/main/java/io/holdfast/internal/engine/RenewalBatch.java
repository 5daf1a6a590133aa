package io.holdfast.internal.engine;

import io.holdfast.LockBackendException;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Renewal;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.util.context.Context;

/**
 * One request that renews several leases. Each answer counts when it arrives. When the request fails or times out, the
 * leases without an answer have failed.
 */
final class RenewalBatch implements BackendCall.Request<Renewal> {

    private final Engine engine;
    private final List<Renewable> leases;
    private final Runnable afterEnd;
    private final long sentAtNanos;

    // These fields are used by the back end's thread only; its signals are serial.
    private int next;
    private final List<Renewable> unknown = new ArrayList<>();
    private @Nullable LockBackendException whyUnknown;

    private RenewalBatch(Engine engine, List<Renewable> leases, Runnable afterEnd) {
        this.engine = engine;
        this.leases = leases;
        this.afterEnd = afterEnd;
        sentAtNanos = engine.alarms.now();
    }

    /** {@code afterEnd} runs once, when all leases have their outcome. */
    static void send(Engine engine, List<Renewable> leases, Runnable afterEnd) {
        RenewalBatch batch = new RenewalBatch(engine, leases, afterEnd);
        Renewable first = leases.get(0); // it has the shortest limit
        BackendCall.start(engine, first.lockName(), first.operationNanos(), Context.empty(), batch, batch.sentAtNanos);
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
        if (leases.size() == 1) {
            return engine.backend.renew(leases.get(0).renewal());
        }
        List<LockClaim> claims = leases.stream().map(Renewable::renewal).toList();
        return engine.backend.renewAll(claims);
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
            lease.renewalFailed(Renewals.unreadable(lease.lockName(), unreadable));
        }
        if (next == leases.size()) {
            logUnknown();
            afterEnd.run();
        }
    }

    @Override
    public void failed(LockBackendException error, int answered) {
        List<Renewable> rest = leases.subList(answered, leases.size());
        engine.events.renewalsFailed(rest, error, engine.alarms.now());
        rest.forEach(lease -> lease.renewalFailed(error));
        afterEnd.run();
    }

    @Override
    public void failed(LockBackendException error) {
        failed(error, 0);
    }

    /** Logs once for all leases that a part of the back end left without an answer. */
    private void logUnknown() {
        if (whyUnknown != null) {
            engine.events.renewalsFailed(unknown, whyUnknown, engine.alarms.now());
        }
    }
}
