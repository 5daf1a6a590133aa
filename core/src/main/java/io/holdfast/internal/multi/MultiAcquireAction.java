package io.holdfast.internal.multi;

/**
 * The next action of an acquisition of many locks. Sets of members are bits: the lowest is the first in the canonical
 * order.
 */
public sealed interface MultiAcquireAction {

    /**
     * Try to take each of the members, all at once, without waiting.
     *
     * @param members the members
     */
    record TryEach(long members) implements MultiAcquireAction {}

    /**
     * Wait for one member.
     *
     * @param member the member
     */
    record WaitFor(int member) implements MultiAcquireAction {}

    /**
     * Withdraw acquisitions that are under way.
     *
     * @param members the members
     */
    record Withdraw(long members) implements MultiAcquireAction {}

    /**
     * Release members, the last first.
     *
     * @param members the members
     */
    record Release(long members) implements MultiAcquireAction {}

    /** Hand out the leases: the acquisition holds all members. */
    record Deliver() implements MultiAcquireAction {}

    /** Complete empty: at least one member is not available. */
    record NotAvailable() implements MultiAcquireAction {}

    /**
     * Fail.
     *
     * @param error the failure of the member that caused it
     */
    record Fail(Throwable error) implements MultiAcquireAction {}

    /**
     * Fail: a member was lost before the acquisition held all.
     *
     * @param member the member
     */
    record FailLost(int member) implements MultiAcquireAction {}

    /**
     * Fail: the time ended while members were tried.
     *
     * @param member the first member for which the back end has not answered
     */
    record FailTimedOut(int member) implements MultiAcquireAction {}
}
