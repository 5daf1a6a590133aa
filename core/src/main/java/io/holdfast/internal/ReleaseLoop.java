package io.holdfast.internal;

import io.holdfast.LockBackendException;
import io.holdfast.internal.AlarmClock.Alarm;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/**
 * Releases a claim, whatever its standing, and repeats that until it is answered, failed for good, or of no use any more because the
 * store has ended the lease by itself. The client knows of each, so that closing can wait for them.
 */
final class ReleaseLoop extends Members.Member implements BackendCall.Request<Ownership> {

    /** Told how it ended. */
    interface Result {

        /**
         * The store answered.
         *
         * @param unknownBefore whether an earlier request may have ended the claim already
         */
        void released(Ownership ownership, boolean unknownBefore);

        /** No answer within one operation timeout; it goes on. */
        void takesLong();

        void unconfirmed(LockBackendException lastFailure);
    }

    private final LockSettings lock;
    private final LockClaim claim;
    private final long untilNanos;
    private final long patientUntilNanos;
    private final Result result;

    /** Made when a request has failed, which is rare; the first one has the time limit of the patience. */
    private volatile @Nullable Alarm nextTry;

    private volatile @Nullable Alarm patienceOver;

    /** Written by whoever handles the outcome of the one request in flight. */
    private int failures;

    private volatile @Nullable LockBackendException lastFailure;

    private ReleaseLoop(LockSettings lock, LockClaim claim, long untilNanos, Result result, long nowNanos) {
        this.lock = lock;
        this.claim = claim;
        this.untilNanos = untilNanos;
        patientUntilNanos = nowNanos + lock.operationNanos();
        this.result = result;
    }

    static void start(LockSettings lock, LockClaim claim, long untilNanos, Result result) {
        long now = lock.engine().alarms.now();
        ReleaseLoop loop = new ReleaseLoop(lock, claim, untilNanos, result, now);
        lock.engine().open(loop);
        loop.send(now);
    }

    @Override
    public String what() {
        return "release";
    }

    @Override
    public Mono<Ownership> ask() {
        return lock.engine().backend.release(claim);
    }

    @Override
    public void answered(Ownership answer) {
        end(() -> result.released(answer, failures > 0));
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
                end(() -> result.unconfirmed(error)); // there is no next try
            }
        } else {
            end(() -> result.unconfirmed(error));
        }
    }

    /** The client that closes sends no other. */
    @Override
    public boolean isSentThoughOver() {
        return true;
    }

    /** The client closes and does not wait any longer. */
    void stop() {
        lock.engine().alarms.off(nextTry);
        LockBackendException failure = lastFailure;
        end(() -> result.unconfirmed(
                failure != null
                        ? failure
                        : new LockBackendException(
                                claim.key().name(),
                                "release of lock '%s' was not answered before the client was closed; the store frees it when the lease ends"
                                        .formatted(claim.key().name()),
                                true,
                                null)));
    }

    private void sendAgain() {
        send(lock.engine().alarms.now());
    }

    private void send(long nowNanos) {
        BackendCall.start(lock.engine(), claim.key().name(), lock.operationNanos(), Context.empty(), this, nowNanos);
    }

    private void end(Runnable tell) {
        lock.engine().alarms.off(patienceOver);
        if (lock.engine().ended(this)) {
            tell.run();
        }
    }
}
