package io.holdfast.internal.claim;

import io.holdfast.LockException;

/** The next action of an acquisition. */
sealed interface AcquireAction {

    /** Do nothing. */
    record None() implements AcquireAction {}

    /** Send an attempt. */
    record Attempt(int attempt) implements AcquireAction {}

    /** Wait, and send the next attempt at that time at the latest. */
    record Pause(long untilNanos) implements AcquireAction {}

    /** Hand out a lease. */
    record Deliver(Grant grant) implements AcquireAction {}

    /** Complete empty: the lock is not available. */
    record NotAvailable() implements AcquireAction {}

    /**
     * Fail: the wait timed out. Withdraw the claim now, unless an attempt is in flight or the back end has nothing of it.
     */
    record TimedOut(boolean withdraw) implements AcquireAction {}

    /** Fail: the client has refused the claim. Nothing was sent. */
    record Refused(LockException error) implements AcquireAction {}

    /** Fail: the client was closed. */
    record Closed(boolean withdraw) implements AcquireAction {}

    /**
     * Fail: the back end failed for good or for too long, or it refused the claim. The outcome may be unknown, so
     * withdraw the claim.
     */
    record Failed(LockException error) implements AcquireAction {}

    /** Fail: each grant had ended when its answer arrived. Withdraw the claim. */
    record GrantedTooLate() implements AcquireAction {}

    /** Withdraw the claim: it has no subscriber any more. */
    record Withdraw() implements AcquireAction {}
}
