package io.holdfast.examples.flashsale;

import java.util.function.LongConsumer;
import reactor.core.publisher.Mono;

/** Stops one shop between its read and its write, while it holds the lock, so that the coordinator can kill it there. */
@FunctionalInterface
interface Accident {

    /**
     * Completes when the visit may continue, or never.
     *
     * @param stockSeen the stock that the shop has read
     * @param fencingToken the token of the lease that the shop holds
     */
    Mono<Void> mayHappen(int stockSeen, long fencingToken);

    static Accident none() {
        return (stockSeen, fencingToken) -> Mono.empty();
    }

    /**
     * Stops the first visit that reads a stock of at most the given items. The shop keeps the lock from then on, so no second visit stops.
     *
     * @param stock the highest stock at which a visit stops
     * @param announce receives the fencing token
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
