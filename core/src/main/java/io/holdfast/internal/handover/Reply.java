package io.holdfast.internal.handover;

import io.holdfast.spi.LockClaim;

/**
 * The decision about a request.
 *
 * @param <A> the type of the answer
 */
public sealed interface Reply<A> {

    /**
     * The request is answered without the back end.
     *
     * @param answer the answer
     * @param <A> the type of the answer
     */
    record Answer<A>(A answer) implements Reply<A> {}

    /**
     * The caller sends a request to the back end, and passes its answer to {@link HandOvers}. Before it releases the
     * turn, it releases {@link Turn#withdrawn()}.
     *
     * @param turn the turn of the request
     * @param claim the turn's claim, as it is sent
     * @param <A> the type of the answer
     */
    record Ask<A>(Turn turn, LockClaim claim) implements Reply<A> {}

    /**
     * This class does not hand the lock over: the caller sends the request of the claim itself to the back end.
     *
     * @param <A> the type of the answer
     */
    record Forward<A>() implements Reply<A> {}

    /**
     * The request is postponed until {@link Effect.Resume}.
     *
     * @param waiter the claim of the request
     * @param <A> the type of the answer
     */
    record Later<A>(Waiter waiter) implements Reply<A> {}
}
