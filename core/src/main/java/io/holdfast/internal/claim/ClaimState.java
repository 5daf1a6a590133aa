package io.holdfast.internal.claim;

import io.holdfast.spi.WatchSignal;

/** A claim acquires the lock, or holds it. States do not change: each event returns the next one, with an action. */
sealed interface ClaimState permits AcquireState, LeaseState {

    enum Action {
        NONE,
        ATTEMPT,
        /** Hand out the lease: the next state is that of the lease. */
        DELIVER,
        NOT_AVAILABLE,
        TIMED_OUT,
        CLOSED,
        FAIL,
        /** Fail: each grant had ended when its answer arrived. */
        GRANTED_TOO_LATE,
        RENEW,
        RELEASE,
        SIGNAL_RELEASED,
        STOP_RENEWING,
        /** Send the renewal that makes the lease a whole one, and wait for its end. */
        RENEW_BEFORE_EXPORT,
        EXPORT,
        ASK_FOR_READ_LEASE,
        GO_ON_AS_READER,
        /** The server does not keep the lock for this claim any more. */
        SIGNAL_LOSS,
        /** The server may still keep the lock for this claim. */
        SIGNAL_LOSS_AND_RELEASE
    }

    /** {@code withdraws}: the acquisition ends, and the back end may have something of the claim. */
    record Step(ClaimState state, Action action, boolean withdraws) {

        Step(ClaimState state, Action action) {
            this(state, action, false);
        }

        AcquireState acquiring() {
            return (AcquireState) state;
        }

        LeaseState lease() {
            return (LeaseState) state;
        }
    }

    boolean wantsWake();

    long wakeAtNanos();

    Step tick(long nowNanos);

    Step signalled(WatchSignal signal, int sentAttempt, long nowNanos);

    Step unwatched(long nowNanos);

    Step closed();
}
