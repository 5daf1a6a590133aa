package io.holdfast.internal.claim;

import io.holdfast.Backoff;
import io.holdfast.LockBackendException;
import io.holdfast.internal.claim.AcquireState.Step;
import io.holdfast.internal.engine.AcquirePlan;
import io.holdfast.internal.engine.AcquirePlan.Mode;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;

/** Shared by the tests of acquisitions. Times are milliseconds after an origin of nanoseconds. */
final class Acquiring {

    static final long LEASE_MILLIS = 30_000;

    private Acquiring() {}

    static AcquirePlan plan(Mode mode, boolean limited) {
        Backoff backoff = Backoff.exponential(Duration.ofMillis(20), Duration.ofSeconds(1));
        return new AcquirePlan(mode, limited, Duration.ofMillis(LEASE_MILLIS).toNanos(), false, backoff);
    }

    static AcquirePlan wholeLeasePlan() {
        AcquirePlan usual = plan(Mode.WAIT, false);
        return new AcquirePlan(usual.mode(), usual.limited(), usual.leaseNanos(), true, usual.backoff());
    }

    /** Sends the first attempt. The end of a limited wait is far away. */
    static Step start(AcquirePlan plan, boolean armed, long nowNanos) {
        return AcquireState.ready(false).begin(plan, armed, nowNanos + millis(3_600_000), nowNanos);
    }

    static AcquireState started(Mode mode) {
        return start(plan(mode, false), true, 0).state();
    }

    static long millis(long millis) {
        return millis * 1_000_000;
    }

    static LockAttempt acquired() {
        return new LockAttempt.Acquired(7, Duration.ofMillis(LEASE_MILLIS));
    }

    static LockAttempt contended(long withinMillis) {
        return new LockAttempt.Contended(Duration.ofMillis(withinMillis));
    }

    static LockAttempt queued(long withinMillis) {
        return new LockAttempt.Queued(Duration.ofMillis(withinMillis));
    }

    static WatchSignal.Granted granted(int attempt, long leaseMillis) {
        return new WatchSignal.Granted(7, attempt, Duration.ofMillis(leaseMillis));
    }

    static LockBackendException failure(boolean isTransient) {
        return new LockBackendException("stock/42", "on purpose", isTransient, null);
    }

    static LockBackendException notYet(long millis) {
        return LockBackendException.notYet("stock/42", "on purpose", Duration.ofMillis(millis));
    }

    /** Returns the name of the action with its important fields. */
    static String action(Step step) {
        AcquireAction action = step.action();
        if (action instanceof AcquireAction.TimedOut over) {
            return over.withdraw() ? "TimedOut+withdraw" : "TimedOut";
        }
        if (action instanceof AcquireAction.Closed closed) {
            return closed.withdraw() ? "Closed+withdraw" : "Closed";
        }
        return action.getClass().getSimpleName();
    }
}
