package io.holdfast.internal.state;

import io.holdfast.LockException;

/** What an acquisition does next. */
public sealed interface AcquireAction {

    /** Nothing. */
    record None() implements AcquireAction {}

    /**
     * Send an attempt.
     *
     * @param attempt its number
     */
    record Attempt(int attempt) implements AcquireAction {}

    /**
     * Attempt again at the latest at that time.
     *
     * @param untilNanos when
     */
    record Pause(long untilNanos) implements AcquireAction {}

    /**
     * Hand out a lease.
     *
     * @param grant what was granted
     */
    record Deliver(Grant grant) implements AcquireAction {}

    /** Complete empty: not available. */
    record NotAvailable() implements AcquireAction {}

    /**
     * Fail: the wait is over.
     *
     * @param withdraw whether to withdraw the claim now; if not, an attempt is in flight or nothing was left in the store
     */
    record TimedOut(boolean withdraw) implements AcquireAction {}

    /**
     * Fail: the client was closed.
     *
     * @param withdraw whether to withdraw the claim now
     */
    record Closed(boolean withdraw) implements AcquireAction {}

    /**
     * Fail: the back end did, for good or for too long, or it refused the claim. Its standing may be unknown, so it is withdrawn.
     *
     * @param error the failure
     */
    record Failed(LockException error) implements AcquireAction {}

    /** Fail: each grant was over when its answer came. Withdraw the claim. */
    record GrantedTooLate() implements AcquireAction {}

    /** Nobody waits any more: withdraw the claim. */
    record Withdraw() implements AcquireAction {}
}
