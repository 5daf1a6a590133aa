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
 * The stock in Redis, which all instances share. An owner of an item's lock claims the stock first, which stores its fencing token. Each write is refused
 * unless that token is still stored. Each script may run twice: the driver repeats a command after a reconnect.
 */
@Repository
class StockStore {

    private final ReactiveStringRedisTemplate redis;
    private final RedisScript<Boolean> claim = script("claim.lua", Boolean.class);
    private final RedisScript<Boolean> restock = script("restock.lua", Boolean.class);
    private final RedisScript<String> reserve = script("reserve.lua", String.class);
    private final RedisScript<Boolean> settle = script("settle.lua", Boolean.class);

    StockStore(ReactiveStringRedisTemplate redis) throws IOException {
        this.redis = redis;
    }

    /** Reads the script now. If given as a file, Spring would read it with the first order, on an event loop. */
    private static <T> RedisScript<T> script(String name, Class<T> result) throws IOException {
        return RedisScript.of(new ClassPathResource(name).getContentAsString(StandardCharsets.UTF_8), result);
    }

    /** Reads the amount in stock, without a lock. Zero for an unknown item. */
    Mono<Integer> amount(String item) {
        return redis.<String, String>opsForHash()
                .get(stockKey(item), "amount")
                .map(Integer::valueOf)
                .defaultIfEmpty(0);
    }

    /**
     * Stores the token: from here on, a former owner of the item's lock writes nothing. To compare tokens only in the writes would not be enough: a
     * former owner could still write between the read and the write of this owner.
     */
    Mono<Void> claim(String item, long token) {
        return owned(item, token, redis.execute(claim, List.of(stockKey(item)), List.of(Long.toString(token))));
    }

    Mono<Void> set(String item, int amount, long token) {
        return owned(
                item,
                token,
                redis.execute(
                        restock, List.of(stockKey(item)), List.of(Long.toString(token), Integer.toString(amount))));
    }

    /** Reads the reservations that are neither confirmed nor cancelled. */
    Flux<Receipt> reserved(String item) {
        return redis.<String, String>opsForHash()
                .entries(reservedKey(item))
                .map(it -> Receipt.parse(it.getKey(), item, it.getValue()));
    }

    /** Reads the receipt of an order that was sold before; empty for a new order. */
    Mono<Receipt> sold(Order order) {
        return redis.<String, String>opsForHash()
                .get(soldKey(order.item()), order.id())
                .map(it -> Receipt.parse(order.id(), order.item(), it))
                .doOnNext(before -> {
                    if (before.quantity() != order.quantity()) {
                        throw new OtherOrderException(order, before.quantity());
                    }
                });
    }

    /** Takes the items of this order out of the stock. */
    Mono<Receipt> reserve(Order order, long token) {
        List<String> keys = List.of(stockKey(order.item()), reservedKey(order.item()), soldKey(order.item()));
        List<String> values = List.of(Long.toString(token), order.id(), Integer.toString(order.quantity()));
        return redis.execute(reserve, keys, values).single().map(answer -> switch (answer) {
            case "stale" -> throw new StaleLeaseException(order.item(), token);
            case "sold out" -> throw new SoldOutException(order);
            default -> Receipt.parse(order.id(), order.item(), answer);
        });
    }

    /** Marks a paid reservation as sold. */
    Mono<Void> confirm(Receipt reserved, long token) {
        return settle(reserved, token, "sold");
    }

    /** Puts the items of an unpaid reservation back into the stock. */
    Mono<Void> cancel(Receipt reserved, long token) {
        return settle(reserved, token, "refused");
    }

    private Mono<Void> settle(Receipt reserved, long token, String outcome) {
        String item = reserved.item();
        List<String> keys = List.of(stockKey(item), reservedKey(item), soldKey(item), salesKey(item));
        return owned(item, token, redis.execute(settle, keys, List.of(Long.toString(token), reserved.id(), outcome)));
    }

    /** Reads token, quantity and order id of each sale, in the order of the sales. */
    Flux<String> sales(String item) {
        return redis.opsForList().range(salesKey(item), 0, -1);
    }

    private static Mono<Void> owned(String item, long token, Flux<Boolean> write) {
        return write.single()
                .filter(isOwner -> isOwner)
                .switchIfEmpty(Mono.error(() -> new StaleLeaseException(item, token)))
                .then();
    }

    private static String stockKey(String item) {
        return "{%s}:stock".formatted(item);
    }

    private static String reservedKey(String item) {
        return "{%s}:reserved".formatted(item);
    }

    private static String soldKey(String item) {
        return "{%s}:sold".formatted(item);
    }

    private static String salesKey(String item) {
        return "{%s}:sales".formatted(item);
    }
}
