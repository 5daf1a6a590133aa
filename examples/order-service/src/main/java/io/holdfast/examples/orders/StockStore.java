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

/**
 * The stock in Redis, which all instances share. Who reads in order to write leaves the fencing token, and a write is refused unless
 * the token is still there.
 */
@Repository
class StockStore {

    private static final String NO_SALE = "";

    private final ReactiveStringRedisTemplate redis;
    private final RedisScript<Long> fencedRead;
    private final RedisScript<Boolean> fencedWrite;

    StockStore(ReactiveStringRedisTemplate redis) throws IOException {
        this.redis = redis;
        fencedRead = RedisScript.of(text("fenced-read.lua"), Long.class);
        fencedWrite = RedisScript.of(text("fenced-write.lua"), Boolean.class);
    }

    /** Read now: given as a file, a script would be read with the first order, on an event loop. */
    private static String text(String script) throws IOException {
        return new ClassPathResource(script).getContentAsString(StandardCharsets.UTF_8);
    }

    /** To look only. Zero for what nobody has heard of. */
    Mono<Integer> amount(String item) {
        return redis.<String, String>opsForHash()
                .get(stockKey(item), "amount")
                .map(Integer::valueOf)
                .defaultIfEmpty(0);
    }

    /**
     * Reads, and leaves the token: from here on a former owner of the item's lock writes nothing. To check tokens when writing would
     * not be enough, since that one could still write between this read and the write that follows from it.
     */
    Mono<Integer> read(String item, long fencingToken) {
        return redis.execute(fencedRead, List.of(stockKey(item)), List.of(Long.toString(fencingToken)))
                .single()
                .filter(amount -> amount >= 0)
                .switchIfEmpty(Mono.error(() -> new StaleLeaseException(item, fencingToken)))
                .map(Long::intValue);
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
                .switchIfEmpty(Mono.error(() -> new StaleLeaseException(item, fencingToken)))
                .then();
    }

    private static String stockKey(String item) {
        return "{%s}:stock".formatted(item);
    }

    private static String salesKey(String item) {
        return "{%s}:sales".formatted(item);
    }
}
