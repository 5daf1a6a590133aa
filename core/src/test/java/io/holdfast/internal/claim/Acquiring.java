package io.holdfast.internal.claim;

import io.holdfast.Backoff;
import io.holdfast.LockBackendException;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.internal.claim.ClaimState.Step;
import io.holdfast.internal.engine.LockTerms;
import io.holdfast.internal.engine.LockTerms.Mode;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Shared by the tests of acquisitions. Times are milliseconds after an origin of nanoseconds. */
final class Acquiring {

    static final long LEASE_MILLIS = 30_000;
    static final WatchSignal ARMED = new WatchSignal.Armed();
    static final WatchSignal CHANGED = new WatchSignal.Changed();
    static final WatchSignal LOST = new WatchSignal.Lost(LossReason.NOT_HELD);

    /** All attempts have left their thread. */
    static final int ALL_SENT = Integer.MAX_VALUE;

    private Acquiring() {}

    /** The options and the mode of an acquisition. */
    record Plan(LockTerms terms, Mode mode) {}

    static Plan plan(Mode mode, boolean limited) {
        return plan(mode, limited ? options().waitTimeout(Duration.ofHours(1)) : options());
    }

    static Plan wholeLeasePlan() {
        return plan(Mode.WAIT, options().minHoldTime(Duration.ofSeconds(1)));
    }

    private static Plan plan(Mode mode, LockOptions.Builder options) {
        return new Plan(new LockTerms(options.build(), 0, 0, Duration.ZERO, 0), mode);
    }

    private static LockOptions.Builder options() {
        return LockOptions.builder()
                .leaseDuration(Duration.ofMillis(LEASE_MILLIS))
                .backoff(Backoff.exponential(Duration.ofMillis(20), Duration.ofSeconds(1)));
    }

    /** The terms of a lease. */
    static LockTerms terms(boolean autoRenew, @Nullable Duration maxHoldTime) {
        LockOptions.Builder options = options().autoRenew(autoRenew).leaseDuration(Duration.ofSeconds(3));
        return plan(Mode.TRY, maxHoldTime == null ? options : options.maxHoldTime(maxHoldTime))
                .terms();
    }

    /** Sends the first attempt. The end of a limited wait is far away. */
    static Step start(Plan plan, boolean armed, long nowNanos) {
        return start(plan, armed, nowNanos + millis(3_600_000), nowNanos);
    }

    static Step start(Plan plan, boolean armed, long giveUpAt, long nowNanos) {
        return AcquireState.ready(0).begin(plan.terms(), plan.mode(), armed, giveUpAt, nowNanos);
    }

    static AcquireState started(Mode mode) {
        return start(plan(mode, false), true, 0).acquiring();
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

    static LockBackendException refused() {
        return LockBackendException.notUnderWay("stock/42", "on purpose", true, null);
    }

    static LockBackendException notYet(long millis) {
        return LockBackendException.notYet("stock/42", "on purpose", Duration.ofMillis(millis));
    }

    /** Returns the name of the action, and whether the claim is withdrawn. */
    static String action(Step step) {
        return step.action() + (step.withdraws() ? "+withdraw" : "");
    }
}
