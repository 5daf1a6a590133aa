package io.holdfast.examples.orders;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.core.ReactiveStringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.stereotype.Repository;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The stock in Redis, which all instances share. It refuses a write with a fencing token lower than the highest it has seen. */
@Repository
class StockStore {

    private static final String NO_SALE = "";

    private final ReactiveStringRedisTemplate redis;
    private final RedisScript<Boolean> fencedWrite;

    StockStore(ReactiveStringRedisTemplate redis) throws IOException {
        this.redis = redis;
        // Read now: given as a file, it would be read with the first order, on an event loop.
        String text = new ClassPathResource("fenced-write.lua").getContentAsString(StandardCharsets.UTF_8);
        fencedWrite = RedisScript.of(text, Boolean.class);
    }

    /** Zero for what nobody has heard of. */
    Mono<Integer> amount(String item) {
        return redis.<String, String>opsForHash()
                .get(stockKey(item), "amount")
                .map(Integer::valueOf)
                .defaultIfEmpty(0);
    }

    Mono<Void> sell(Receipt receipt) {
        String sale = "%d %d".formatted(receipt.fencingToken(), receipt.quantity());
        return write(receipt.item(), receipt.left(), receipt.fencingToken(), sale);
    }

    Mono<Void> set(String item, int amount, long fencingToken) {
        return write(item, amount, fencingToken, NO_SALE);
    }

    /** Token and quantity of each sale, the first one first. */
    Flux<String> sales(String item) {
        return redis.opsForList().range(salesKey(item), 0, -1);
    }

    private Mono<Void> write(String item, int amount, long fencingToken, String sale) {
        List<String> keys = List.of(stockKey(item), salesKey(item));
        List<String> values = List.of(Long.toString(fencingToken), Integer.toString(amount), sale);
        return redis.execute(fencedWrite, keys, values)
                .single()
                .filter(isWritten -> isWritten)
                .switchIfEmpty(Mono.error(() -> new StaleWriteException(item, fencingToken)))
                .then();
    }

    private static String stockKey(String item) {
        return "{%s}:stock".formatted(item);
    }

    private static String salesKey(String item) {
        return "{%s}:sales".formatted(item);
    }
}
