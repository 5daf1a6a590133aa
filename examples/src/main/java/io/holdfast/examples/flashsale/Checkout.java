package io.holdfast.examples.flashsale;

import io.lettuce.core.api.reactive.RedisReactiveCommands;
import java.time.Duration;
import reactor.core.publisher.Mono;

/**
 * Serves one buyer: reads the stock, thinks, writes the stock. Redis guards none of these steps: a shop that reads before another shop has written sells
 * the same item again. So the result shows the effect of the {@link Guard} alone.
 *
 * <p><b>Do not copy this.</b> Its write has no fence: a shop that pauses for longer than its lease, between its read and its write, oversells in spite of
 * the lock. A real shop refuses such a write by the fencing token, and gives each order an id: see {@code examples/order-service}.
 */
final class Checkout {

    /** The time that a shop thinks between its read and its write. It is short, but long enough for all other shops to read the same stock. */
    private static final Duration THINK_TIME = Duration.ofMillis(1);

    private final String shop;
    private final SaleKeys keys;
    private final RedisReactiveCommands<String, String> redis;
    private final Guard guard;
    private final Accident accident;

    Checkout(String shop, SaleKeys keys, RedisReactiveCommands<String, String> redis, Guard guard, Accident accident) {
        this.shop = shop;
        this.keys = keys;
        this.redis = redis;
        this.guard = guard;
        this.accident = accident;
    }

    /** Serves one buyer: waits for the lock, gives the buyer an answer, releases. */
    Mono<Visit> serve(int buyer) {
        return Mono.defer(() -> {
            long askedNanos = System.nanoTime();
            return guard.around(token -> visit(buyer, token, (System.nanoTime() - askedNanos) / 1_000));
        });
    }

    private Mono<Visit> visit(int buyer, long token, long waitedMicros) {
        return readStock()
                .delayUntil(seen -> accident.mayHappen(seen, token))
                .delayUntil(seen -> seen > 0 ? sell(seen) : Mono.empty())
                .map(seen -> new Visit(shop, buyer, token, seen, waitedMicros))
                .delayUntil(visit -> redis.rpush(keys.ledger(), visit.toLine()));
    }

    private Mono<Integer> readStock() {
        return redis.get(keys.stock()).map(Integer::valueOf);
    }

    private Mono<String> sell(int seen) {
        return Mono.delay(THINK_TIME).then(redis.set(keys.stock(), Integer.toString(seen - 1)));
    }
}
