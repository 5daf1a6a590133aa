package io.holdfast.examples.orders;

import io.holdfast.testkit.server.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.ReactiveStringRedisTemplate;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** What the store refuses. The tokens are those of owners of one lock, each lease over before the next one's grant. */
class StockStoreIT {

    private static final String ITEM = "paused";

    private static RedisServer server;
    private static LettuceConnectionFactory connections;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        connections = new LettuceConnectionFactory(server.host(), server.port());
        connections.afterPropertiesSet();
        connections.start();
    }

    @AfterAll
    static void stop() {
        connections.destroy();
        server.close();
    }

    private final StockStore stock;

    StockStoreIT() throws Exception {
        stock = new StockStore(new ReactiveStringRedisTemplate(connections));
    }

    /** It was paused after its read. Its write would be undone by the next one's, which has read before it: sold, and still there. */
    @Test
    void aFormerOwnerSellsNothingOnceTheNextOneHasRead() {
        found(0, stock.read(ITEM, 6));
        done(stock.set(ITEM, 10, 6));
        found(10, stock.read(ITEM, 7));
        found(10, stock.read(ITEM, 8));

        refused(stock.sell(new Receipt(ITEM, 1, 9, 7)));
        refused(stock.read(ITEM, 7));

        done(stock.sell(new Receipt(ITEM, 2, 8, 8)));
        found(8, stock.amount(ITEM));
        StepVerifier.create(stock.sales(ITEM))
                .expectNext("8 2")
                .expectComplete()
                .verify(Customer.LIMIT);
    }

    @Test
    void whoHasNotReadWritesNothing() {
        refused(stock.set("unread", 10, 7));
        found(0, stock.amount("unread"));
    }

    private static void found(int amount, Mono<Integer> read) {
        StepVerifier.create(read).expectNext(amount).expectComplete().verify(Customer.LIMIT);
    }

    private static void done(Mono<Void> write) {
        StepVerifier.create(write).expectComplete().verify(Customer.LIMIT);
    }

    private static void refused(Mono<?> access) {
        StepVerifier.create(access).expectError(StaleLeaseException.class).verify(Customer.LIMIT);
    }
}
