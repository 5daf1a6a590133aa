package io.holdfast.internal.claim;

import io.holdfast.LockBackendException;
import io.holdfast.internal.engine.Activities;
import io.holdfast.internal.engine.BackendCall;
import io.holdfast.internal.engine.LockSettings;
import io.holdfast.internal.timing.AlarmClock;
import io.holdfast.internal.timing.AlarmClock.Alarm;
import io.holdfast.internal.timing.Validity;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/**
 * Repeats a release until it is answered, fails for good, or the server has ended the lease by itself. Within a least
 * hold time it sends a renewal until the end of that time, so that the server keeps the lock without this client too. A
 * release follows then, to wake the waiters, or at once if the server does not keep the lock. If either request is lost,
 * the lock is free later.
 */
final class ReleaseLoop extends Activities.Activity implements BackendCall.Request<Ownership> {

    interface Result {

        /** {@code unknownBefore}: whether an earlier request may have ended the claim already. */
        default void released(Ownership ownership, boolean unknownBefore) {}

        /** Handles a release that is not answered within one operation timeout; the loop goes on. */
        default void takesLong() {}

        void unconfirmed(LockBackendException lastFailure);
    }

    private final LockSettings lock;
    private final LockClaim claim;
    private final long keptUntilNanos;
    private final long untilNanos;
    private final long patientUntilNanos;
    private final Result result;

    /** Made when a request has failed, which is rare; the first request has the same time limit. */
    private volatile @Nullable Alarm patienceOver;

    /** Whether the request in flight keeps the lock for its least hold time. Written by the sending thread. */
    private volatile boolean keeps;

    /** Written by the thread that handles the outcome of the one request in flight. */
    private int failures;

    private volatile @Nullable LockBackendException lastFailure;

    private ReleaseLoop(
            LockSettings lock, LockClaim claim, long keptUntilNanos, long untilNanos, Result result, long nowNanos) {
        this.lock = lock;
        this.claim = claim;
        this.keptUntilNanos = keptUntilNanos;
        this.untilNanos = untilNanos;
        patientUntilNanos = nowNanos + lock.operationNanos();
        this.result = result;
    }

    /** {@code keptUntilNanos}: until when the server keeps the lock, now for not at all. */
    static void start(LockSettings lock, LockClaim claim, long keptUntilNanos, long untilNanos, Result result) {
        long now = lock.engine().alarms.now();
        ReleaseLoop loop = new ReleaseLoop(lock, claim, keptUntilNanos, untilNanos, result, now);
        lock.engine().open(loop);
        if (!Validity.isOver(keptUntilNanos, now)) {
            lock.engine().keptClaims.add(claim.id());
        }
        loop.send(now);
    }

    @Override
    public String what() {
        return keeps ? "release after the least hold time" : "release";
    }

    @Override
    public Mono<Ownership> ask() {
        LockBackend backend = lock.engine().backend;
        if (!keeps) {
            return backend.release(claim);
        }
        long left = Math.max(keptUntilNanos - lock.engine().alarms.now(), lock.operationNanos());
        return backend.renew(claim.withLease(Duration.ofNanos(left))).flatMap(ReleaseLoop::ownership);
    }

    private static Mono<Ownership> ownership(Renewal answer) {
        if (answer instanceof Renewal.Unknown unknown) {
            return Mono.error(unknown.failure());
        }
        return Mono.just(answer instanceof Renewal.Held ? Ownership.HELD : Ownership.NOT_HELD);
    }

    @Override
    public void answered(Ownership answer) {
        boolean isKept = keeps && answer == Ownership.HELD;
        if (isKept) {
            lock.engine().alarms.set(Alarm.of(() -> releaseAt(keptUntilNanos)), keptUntilNanos);
        } else if (keeps) {
            releaseAt(lock.engine().alarms.now()); // an attempt that was never answered may still take the lock
        }
        // An earlier request may have reached the server. If the least hold time is over, the claim may have ended
        // there.
        boolean mayHaveEnded = failures > 0
                && Validity.isOver(keptUntilNanos, lock.engine().alarms.now());
        if (isOver(isKept)) {
            result.released(answer, mayHaveEnded);
        }
    }

    /** Its result does not matter: the release was reported, and the server ends the lease by itself soon. */
    private void releaseAt(long nowNanos) {
        start(lock, claim, nowNanos, lock.storeForgetsAtNanos(), unconfirmed -> {});
    }

    @Override
    public void failed(LockBackendException error, int answered) {
        AlarmClock alarms = lock.engine().alarms;
        failures++;
        lastFailure = error;
        Duration pause = lock.options().backoff().pause(failures, lock.engine().random());
        long next = alarms.now() + pause.toNanos();
        boolean isTriedAgain = error.isTransient() && next - untilNanos < 0;
        if (isTriedAgain) {
            if (next - patientUntilNanos >= 0) {
                result.takesLong();
            } else if (patienceOver == null) {
                Alarm over = Alarm.of(result::takesLong);
                patienceOver = over;
                alarms.set(over, patientUntilNanos);
            }
            alarms.set(this, next);
        }
        if (!isTriedAgain || alarms.isClosed()) { // a closed clock starts no next try
            unconfirmed(error);
        }
    }

    @Override
    public void ring() {
        send(lock.engine().alarms.now());
    }

    /** Returns true: the closing client sends no other release. */
    @Override
    public boolean isSentThoughOver() {
        return true;
    }

    @Override
    public void abandon() {
        lock.engine().alarms.off(this);
        LockBackendException known = lastFailure;
        String message =
                "release of lock '%s' was not answered before the client was closed; the back end frees it when the lease ends"
                        .formatted(lock.name());
        LockBackendException failure =
                known != null ? known : new LockBackendException(lock.name(), message, true, null);
        unconfirmed(failure);
    }

    private void unconfirmed(LockBackendException failure) {
        if (isOver(false)) {
            result.unconfirmed(failure);
        }
    }

    private void send(long nowNanos) {
        keeps = !Validity.isOver(keptUntilNanos, nowNanos);
        BackendCall.start(lock, Context.empty(), this, nowNanos);
    }

    /** Returns false when it was over before. */
    private boolean isOver(boolean isKept) {
        lock.engine().alarms.off(patienceOver);
        if (!isKept) {
            lock.engine().keptClaims.remove(claim.id());
        }
        return lock.engine().ended(this);
    }
}
