package io.holdfast.internal.tenure;

import io.holdfast.spi.LockClaim;
import reactor.core.publisher.Sinks;

/** The decision about a request. */
sealed interface Reply<A> {

    record Answer<A>(A answer) implements Reply<A> {}

    /** The caller sends this request and passes on the answer; before a release, that of {@link Tenure#withdrawn()}. */
    record Ask<A>(Tenure tenure, LockClaim claim) implements Reply<A> {}

    /** The back end decides: the caller sends the request of the claim itself. */
    record Forward<A>() implements Reply<A> {}

    /** First as {@link Forward}. If the claim did not hold the lock, then as {@link Ask} of this tenure. */
    record ForwardThenAsk<A>(Tenure tenure) implements Reply<A> {}

    /** The request is postponed until {@link Effect.Resume}. */
    record Later<A>(Sinks.Empty<Void> until) implements Reply<A> {}
}
