package io.holdfast.internal.state;

/** What an acquisition of many locks does next. Sets of members are bits: the lowest is the first in the canonical order. */
public sealed interface MultiAcquireAction {

    /**
     * Try to take each of them, all at one time, without waiting.
     *
     * @param members which
     */
    record TryEach(long members) implements MultiAcquireAction {}

    /**
     * Wait for one.
     *
     * @param member which
     */
    record WaitFor(int member) implements MultiAcquireAction {}

    /**
     * Withdraw the acquisitions that are under way.
     *
     * @param members of which
     */
    record Withdraw(long members) implements MultiAcquireAction {}

    /**
     * Release, the last first.
     *
     * @param members which
     */
    record Release(long members) implements MultiAcquireAction {}

    /** Hand out what is held: all of them. */
    record Deliver() implements MultiAcquireAction {}

    /** Complete empty: one of them at least is not available. */
    record NotAvailable() implements MultiAcquireAction {}

    /**
     * Fail.
     *
     * @param error of the member that is to blame
     */
    record Fail(Throwable error) implements MultiAcquireAction {}

    /**
     * Fail: a member was lost before the others were had.
     *
     * @param member which
     */
    record FailLost(int member) implements MultiAcquireAction {}

    /**
     * Fail: the time was over while members were tried.
     *
     * @param member the first of which the store has not said whether it is available
     */
    record FailTimedOut(int member) implements MultiAcquireAction {}
}
