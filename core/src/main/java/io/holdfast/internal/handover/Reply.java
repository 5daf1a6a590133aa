package io.holdfast.internal.handover;

import io.holdfast.spi.LockClaim;

/**
 * What becomes of a request.
 *
 * @param <A> the kind of answer
 */
public sealed interface Reply<A> {

    /**
     * Answered here.
     *
     * @param answer the answer
     * @param <A> the kind of answer
     */
    record Answer<A>(A answer) implements Reply<A> {}

    /**
     * The store is asked, and its answer told to {@link HandOvers}. Before it releases the turn, it releases {@link Turn#withdrawn()}.
     *
     * @param turn whose request it is
     * @param claim the turn's claim, as it is sent
     * @param <A> the kind of answer
     */
    record Ask<A>(Turn turn, LockClaim claim) implements Reply<A> {}

    /**
     * None of the locks that are handed over here: the store is asked for the claim itself.
     *
     * @param <A> the kind of answer
     */
    record Forward<A>() implements Reply<A> {}

    /**
     * Asked again when {@link Effect.Resume} comes.
     *
     * @param waiter whose request it is
     * @param <A> the kind of answer
     */
    record Later<A>(Waiter waiter) implements Reply<A> {}
}
