package io.holdfast.internal;

import io.holdfast.LockBackendException;
import io.holdfast.internal.AlarmClock.Alarm;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/**
 * Releases a claim, whatever its standing, and repeats that until it is answered, failed for good, or of no use any more because the
 * store has ended the lease by itself. The client knows of each, so that closing can wait for them.
 */
final class ReleaseLoop implements BackendCall.Outcome<Ownership> {

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

    private ReleaseLoop(LockSettings lock, LockClaim claim, long untilNanos, Result result) {
        this.lock = lock;
        this.claim = claim;
        this.untilNanos = untilNanos;
        patientUntilNanos = lock.engine().alarms.now() + lock.operationNanos();
        this.result = result;
    }

    static void start(LockSettings lock, LockClaim claim, long untilNanos, Result result) {
        ReleaseLoop loop = new ReleaseLoop(lock, claim, untilNanos, result);
        lock.engine().open(loop);
        loop.send();
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
                Alarm patience = patienceOver != null ? patienceOver : new Alarm(result::takesLong);
                patienceOver = patience;
                lock.engine().alarms.set(patience, patientUntilNanos);
            }
            Alarm again = nextTry != null ? nextTry : new Alarm(this::send);
            nextTry = again;
            lock.engine().alarms.set(again, next);
            if (lock.engine().alarms.isClosed()) {
                end(() -> result.unconfirmed(error)); // there is no next try
            }
        } else {
            end(() -> result.unconfirmed(error));
        }
    }

    /** The client closes and does not wait any longer. */
    void stop() {
        off(nextTry);
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

    private void send() {
        Supplier<Mono<Ownership>> request = () -> lock.engine().backend.release(claim);
        BackendCall.start(
                lock.engine(), claim.key().name(), "release", lock.operationNanos(), Context.empty(), request, this);
    }

    private void off(@Nullable Alarm made) {
        if (made != null) {
            lock.engine().alarms.off(made);
        }
    }

    private void end(Runnable tell) {
        off(patienceOver);
        if (lock.engine().ended(this)) {
            tell.run();
        }
    }
}
