package io.holdfast.internal.claim;

import io.holdfast.LockBackendException;
import io.holdfast.internal.engine.BackendCall;
import io.holdfast.internal.engine.LockSettings;
import io.holdfast.internal.engine.Members;
import io.holdfast.internal.engine.Members.Stage;
import io.holdfast.internal.run.AlarmClock.Alarm;
import io.holdfast.internal.run.Validity;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/**
 * Releases a claim, whatever its state. It repeats the release until it is answered, fails for good, or is useless
 * because the server has ended the lease by itself. The client lists each loop, so that its close can wait for them.
 *
 * <p>Within a least hold time it sends a renewal that makes the lease end with that time. So the server keeps the lock
 * without this client too. A release follows when the time is over, to wake the waiters. If either request is lost, the
 * lock is free later.
 */
public final class ReleaseLoop extends Members.Member implements BackendCall.Request<Ownership> {

    /** Receives the result. */
    interface Result {

        /**
         * Handles the answer.
         *
         * @param unknownBefore whether an earlier request may have ended the claim already
         */
        void released(Ownership ownership, boolean unknownBefore);

        /** Handles a release that is not answered within one operation timeout; the loop goes on. */
        void takesLong();

        void unconfirmed(LockBackendException lastFailure);
    }

    /** Ignores the result: the release was reported before, and the server ends the lease by itself a little later. */
    private static final Result AFTER_MIN_HOLD = new Result() {

        @Override
        public void released(Ownership ownership, boolean unknownBefore) {}

        @Override
        public void takesLong() {}

        @Override
        public void unconfirmed(LockBackendException lastFailure) {}
    };

    private final LockSettings lock;
    private final LockClaim claim;
    private final long keptUntilNanos;
    private final long untilNanos;
    private final long patientUntilNanos;
    private final Result result;

    /** Made when a request has failed, which is rare; the first request has the same time limit. */
    private volatile @Nullable Alarm nextTry;

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

    static void start(LockSettings lock, LockClaim claim, long untilNanos, Result result) {
        start(lock, claim, lock.engine().alarms.now(), untilNanos, result);
    }

    /**
     * Starts a loop.
     *
     * @param keptUntilNanos until when the server keeps the lock
     */
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
            lock.engine()
                    .alarms
                    .set(
                            Alarm.of(() -> start(lock, claim, lock.storeForgetsAtNanos(), AFTER_MIN_HOLD)),
                            keptUntilNanos);
        }
        // An earlier request may have reached the server. If the least hold time is over, the claim may have ended
        // there.
        boolean mayHaveEnded = failures > 0
                && Validity.isOver(keptUntilNanos, lock.engine().alarms.now());
        end(isKept, () -> result.released(answer, mayHaveEnded));
    }

    @Override
    public void failed(LockBackendException error) {
        failures++;
        lastFailure = error;
        long next = lock.engine().alarms.now()
                + lock.options()
                        .backoff()
                        .pause(failures, lock.engine().random())
                        .toNanos();
        if (error.isTransient() && next - untilNanos < 0) {
            if (next - patientUntilNanos >= 0) {
                result.takesLong();
            } else {
                Alarm patience = patienceOver != null ? patienceOver : Alarm.of(result::takesLong);
                patienceOver = patience;
                lock.engine().alarms.set(patience, patientUntilNanos);
            }
            Alarm again = nextTry != null ? nextTry : Alarm.of(this::sendAgain);
            nextTry = again;
            lock.engine().alarms.set(again, next);
            if (lock.engine().alarms.isClosed()) {
                end(false, () -> result.unconfirmed(error)); // the clock is closed: no next try follows
            }
        } else {
            end(false, () -> result.unconfirmed(error));
        }
    }

    /** Returns true: the closing client sends no other release. */
    @Override
    public boolean isSentThoughOver() {
        return true;
    }

    @Override
    public Stage stage() {
        return Stage.RELEASING;
    }

    /** Does nothing: the closing client waits for it. */
    @Override
    public void close() {}

    @Override
    public void abandon() {
        lock.engine().alarms.off(nextTry);
        LockBackendException failure = lastFailure;
        end(
                false,
                () -> result.unconfirmed(
                        failure != null
                                ? failure
                                : new LockBackendException(
                                        claim.key().name(),
                                        "release of lock '%s' was not answered before the client was closed; the back end frees it when the lease ends"
                                                .formatted(claim.key().name()),
                                        true,
                                        null)));
    }

    private void sendAgain() {
        send(lock.engine().alarms.now());
    }

    private void send(long nowNanos) {
        keeps = !Validity.isOver(keptUntilNanos, nowNanos);
        BackendCall.start(lock.engine(), claim.key().name(), lock.operationNanos(), Context.empty(), this, nowNanos);
    }

    private void end(boolean isKept, Runnable report) {
        lock.engine().alarms.off(patienceOver);
        if (!isKept) {
            lock.engine().keptClaims.remove(claim.id());
        }
        if (lock.engine().ended(this)) {
            report.run();
        }
    }
}
