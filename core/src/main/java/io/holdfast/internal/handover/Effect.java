package io.holdfast.internal.handover;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import java.util.function.Consumer;

/** An action besides the answer; actions are in order. */
public sealed interface Effect {

    /**
     * Signals an event to a claim of this process.
     *
     * @param watch the watch of the claim. It gets its signals in the order of the decisions
     * @param signal the signal
     */
    record Push(Consumer<WatchSignal> watch, WatchSignal signal) implements Effect {}

    /**
     * Watches the turn's claim at the back end.
     *
     * @param turn the turn
     */
    record Watch(Turn turn) implements Effect {}

    /**
     * Stops watching the turn's claim.
     *
     * @param turn the turn
     */
    record Unwatch(Turn turn) implements Effect {}

    /**
     * Requests the block of tokens; the answer goes to {@link HandOvers#reserved}.
     *
     * @param turn the turn
     * @param claim the claim to send
     */
    record Reserve(Turn turn, LockClaim claim) implements Effect {}

    /**
     * Releases the turn's claim at the back end. No claim of this process waits for the answer; if none arrives, the
     * lease ends by itself.
     *
     * @param turn the turn
     * @param claim the claim to send
     */
    record Release(Turn turn, LockClaim claim) implements Effect {}

    /**
     * Continues the postponed release of a claim.
     *
     * @param waiter the claim
     */
    record Resume(Waiter waiter) implements Effect {}
}
