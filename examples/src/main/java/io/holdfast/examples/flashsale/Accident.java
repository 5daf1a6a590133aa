package io.holdfast.examples.flashsale;

import java.util.function.LongConsumer;
import reactor.core.publisher.Mono;

/** Makes one shop stop between its read and its write, with the lock in hand, so that it can be killed there. */
@FunctionalInterface
interface Accident {

    /**
     * Completes when the visit may go on, or never.
     *
     * @param stockSeen what the shop has read
     * @param fencingToken of the lease that it holds
     */
    Mono<Void> mayHappen(int stockSeen, long fencingToken);

    static Accident none() {
        return (stockSeen, fencingToken) -> Mono.empty();
    }

    /**
     * Happens to the first visit that finds so little left. The lock is in hand from then on, so there is no second one.
     *
     * @param stock at most so many items
     * @param announce is told the token
     */
    static Accident at(int stock, LongConsumer announce) {
        return (stockSeen, fencingToken) -> {
            if (stockSeen > stock) {
                return Mono.empty();
            }
            announce.accept(fencingToken);
            return Mono.never();
        };
    }
}
