package io.holdfast.examples.flashsale;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/** The requests of the coordinator to Redis. They block the main thread, which does nothing else. */
final class SaleStore implements AutoCloseable {

    private final RedisClient client;
    private final RedisCommands<String, String> redis;
    private final SaleKeys keys;

    SaleStore(RedisURI uri, SaleKeys keys) {
        this.keys = keys;
        client = RedisClient.create(uri);
        // A server of the demo may end with this JVM before this client closes. So the client does not wait for it.
        client.setOptions(ClientOptions.builder()
                .autoReconnect(false)
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                .build());
        try {
            redis = client.connect().sync();
        } catch (RedisException e) {
            client.shutdown();
            throw new IllegalStateException(
                    "no Redis answers at %s:%d: %s".formatted(uri.getHost(), uri.getPort(), e.getMessage()), e);
        }
    }

    void fill(int items, int buyers) {
        redis.set(keys.stock(), Integer.toString(items));
        redis.rpush(
                keys.queue(),
                IntStream.rangeClosed(1, buyers).mapToObj(Integer::toString).toArray(String[]::new));
    }

    int stock() {
        return Integer.parseInt(redis.get(keys.stock()));
    }

    int answered() {
        return Math.toIntExact(redis.llen(keys.ledger()));
    }

    List<Visit> visits() {
        return redis.lrange(keys.ledger(), 0, -1).stream().map(Visit::parse).toList();
    }

    /**
     * Puts the buyers that a shop has taken and not answered back to the head of the queue. The shop must be dead, and must
     * have held the lock when it died: then all its answers are in the ledger.
     *
     * @return how many buyers
     */
    int returnBuyersOf(String shop) {
        Set<String> answered = new HashSet<>();
        visits().forEach(visit -> answered.add(Integer.toString(visit.buyer())));
        List<String> unanswered = new ArrayList<>(redis.lrange(keys.takenBy(shop), 0, -1));
        unanswered.removeAll(answered);
        if (!unanswered.isEmpty()) {
            redis.lpush(keys.queue(), unanswered.toArray(String[]::new));
        }
        return unanswered.size();
    }

    /** Deletes the keys of the sale from a user's server, also if the thread was interrupted. The keys of the lock expire by themselves. */
    void clear(List<String> shops) {
        boolean wasInterrupted = Thread.interrupted();
        try {
            delete(shops);
        } finally {
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void delete(List<String> shops) {
        redis.del(keys.stock(), keys.queue(), keys.ledger());
        shops.forEach(shop -> redis.del(keys.takenBy(shop)));
    }

    @Override
    public void close() {
        client.shutdown();
    }
}
