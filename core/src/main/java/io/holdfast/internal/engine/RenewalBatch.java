package io.holdfast.internal.engine;

import io.holdfast.LockBackendException;
import io.holdfast.internal.run.AlarmClock.Alarm;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Renewal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/**
 * One request that renews several leases. Each answer counts when it arrives. When the request fails or times out, the
 * leases without an answer have failed.
 */
final class RenewalBatch implements CoreSubscriber<Renewal> {

    private static final AtomicIntegerFieldUpdater<RenewalBatch> SETTLED =
            AtomicIntegerFieldUpdater.newUpdater(RenewalBatch.class, "settled");

    private final Engine engine;
    private final List<Renewable> leases;
    private final Runnable afterEnd;
    private final long sentAtNanos;
    private final Alarm timeUp = Alarm.atTheLatestAtClose(this::timeUp);

    /** How many leases have their outcome: the thread that raises it notifies the leases in between. */
    private volatile int settled;

    /** Written by the back end's thread, read by the timer's thread. */
    private volatile @Nullable Subscription subscription;

    // Both fields are used by the back end's thread only; its signals are serial.
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
        long limitNanos = leases.get(0).operationNanos(); // the shortest limit
        engine.alarms.set(batch.timeUp, batch.sentAtNanos + limitNanos);
        try {
            if (leases.size() == 1) {
                engine.backend.renew(leases.get(0).renewal()).subscribe(batch);
            } else {
                List<LockClaim> claims = leases.stream().map(Renewable::renewal).toList();
                engine.backend.renewAll(claims).subscribe(batch);
            }
        } catch (Throwable thrown) {
            batch.onError(thrown);
        }
    }

    @Override
    public void onSubscribe(Subscription s) {
        subscription = s;
        if (settled == leases.size()) {
            s.cancel();
        } else {
            s.request(Long.MAX_VALUE);
        }
    }

    @Override
    public void onNext(Renewal answer) {
        int number = settled;
        if (number == leases.size() || !SETTLED.compareAndSet(this, number, number + 1)) {
            return; // one answer too many, or too late
        }
        notify(leases.get(number), answer);
        if (number + 1 == leases.size()) {
            logUnknown();
            end();
        }
    }

    private void notify(Renewable lease, Renewal answer) {
        if (answer instanceof Renewal.Unknown it) {
            unknown.add(lease);
            whyUnknown = whyUnknown == null ? it.failure() : whyUnknown;
        }
        try {
            lease.renewalAnswered(sentAtNanos, answer);
        } catch (Throwable unreadable) {
            lease.renewalFailed(Renewals.unreadable(lease.lockName(), unreadable));
        }
    }

    @Override
    public void onError(Throwable error) {
        logUnknown();
        failRest(
                error instanceof LockBackendException known
                        ? known
                        : failure("failed unexpectedly: " + error, false, error));
    }

    @Override
    public void onComplete() {
        int answered = settled;
        if (answered < leases.size()) {
            logUnknown();
            failRest(failure("was completed with %d of %d answers".formatted(answered, leases.size()), true, null));
        }
    }

    private void timeUp() {
        Subscription s = subscription;
        long limitMillis = leases.get(0).operationNanos() / 1_000_000;
        failRest(failure(
                "was not answered within %d ms, so its outcome is unknown; is the server reachable, and is the operation timeout long enough?"
                        .formatted(limitMillis),
                true,
                null));
        if (s != null) {
            s.cancel();
        }
    }

    private void failRest(LockBackendException error) {
        int answered = SETTLED.getAndSet(this, leases.size());
        if (answered == leases.size()) {
            return; // all leases have their answers
        }
        List<Renewable> rest = leases.subList(answered, leases.size());
        engine.events.renewalsFailed(rest, error, engine.alarms.now());
        rest.forEach(lease -> lease.renewalFailed(error));
        end();
    }

    private void end() {
        engine.alarms.off(timeUp);
        afterEnd.run();
    }

    /** Logs once for all leases that a part of the back end left without an answer. */
    private void logUnknown() {
        LockBackendException failure = whyUnknown;
        if (failure != null) {
            whyUnknown = null;
            engine.events.renewalsFailed(unknown, failure, engine.alarms.now());
        }
    }

    private LockBackendException failure(String end, boolean isTransient, @Nullable Throwable cause) {
        String name = leases.get(0).lockName();
        String others = leases.size() == 1 ? "" : " (with %d others)".formatted(leases.size() - 1);
        String message = "renewal%s of lock '%s' on back end %s %s".formatted(others, name, engine.backend.name(), end);
        return new LockBackendException(name, message, isTransient, cause);
    }
}
