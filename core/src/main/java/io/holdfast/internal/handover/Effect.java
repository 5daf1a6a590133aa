package io.holdfast.internal.handover;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import java.util.function.Consumer;

/** What is to be done besides answering, in order. */
public sealed interface Effect {

    /**
     * Signals something to a claim of this process.
     *
     * @param watch of the claim. It hears its signals in the order of the decisions
     * @param signal what
     */
    record Push(Consumer<WatchSignal> watch, WatchSignal signal) implements Effect {}

    /**
     * Watches the turn's claim at the store.
     *
     * @param turn which
     */
    record Watch(Turn turn) implements Effect {}

    /**
     * Watches it no more.
     *
     * @param turn which
     */
    record Unwatch(Turn turn) implements Effect {}

    /**
     * Asks for the block of tokens; the answer goes to {@link HandOvers#reserved}.
     *
     * @param turn whose
     * @param claim as it is sent
     */
    record Reserve(Turn turn, LockClaim claim) implements Effect {}

    /**
     * Releases the turn's claim at the store. No claim of this process waits for the answer; without one the lease ends by itself.
     *
     * @param turn whose
     * @param claim as it is sent
     */
    record Release(Turn turn, LockClaim claim) implements Effect {}

    /**
     * Asks again for the release that was put off.
     *
     * @param waiter whose
     */
    record Resume(Waiter waiter) implements Effect {}
}
