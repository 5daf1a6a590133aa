package io.holdfast.examples.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** The writes that the stock refuses. The tokens are those of successive owners of one lock: each lease is over before the next grant. */
class StockStoreIT {

    private static final String ITEM = "paused";

    @RegisterExtension
    static final RealStock REDIS = new RealStock();

    private final StockStore stock;

    StockStoreIT() throws Exception {
        stock = REDIS.store();
    }

    /** A former owner paused after its claim. The next owner has read before its write, and would undo it: the item would be sold and still in stock. */
    @Test
    void aFormerOwnerSellsNothingAfterTheNextOwnerHasClaimed() {
        stocked(10);
        done(stock.claim(ITEM, 7));
        Receipt begun = reserved(order("begun"), 7);
        done(stock.claim(ITEM, 8));

        refused(stock.reserve(order("late"), 7));
        refused(stock.confirm(begun, 7));
        refused(stock.cancel(begun, 7));
        refused(stock.set(ITEM, 100, 7));
        refused(stock.claim(ITEM, 7));

        done(stock.confirm(begun, 8));
        done(stock.confirm(reserved(order("next"), 8), 8));
        found(6, stock.amount(ITEM));
        sales("7 2 begun", "8 2 next");
    }

    /** After a reconnect, a driver repeats each command without an answer. */
    @Test
    void eachStepMayRunTwice() {
        stocked(10);
        done(stock.claim(ITEM, 7));
        done(stock.claim(ITEM, 7));
        Receipt sold = reserved(order("sold"), 7);
        assertThat(reserved(order("sold"), 7)).isEqualTo(sold).isEqualTo(new Receipt("sold", ITEM, 2, 8, 7));
        done(stock.confirm(sold, 7));
        done(stock.confirm(sold, 7));
        assertThat(reserved(order("sold"), 7)).isEqualTo(sold);

        Receipt refused = reserved(order("refused"), 7);
        found(6, stock.amount(ITEM));
        done(stock.cancel(refused, 7));
        done(stock.cancel(refused, 7));

        found(8, stock.amount(ITEM));
        sales("7 2 sold");
        StepVerifier.create(stock.reserved(ITEM)).expectComplete().verify(Customer.LIMIT);
    }

    /** The driver repeats all commands, in their order. */
    @Test
    void allStepsMayRunTwice() {
        stocked(10);
        for (int time = 0; time < 2; time++) {
            done(stock.claim(ITEM, 7));
            done(stock.confirm(reserved(order("sold"), 7), 7));
            done(stock.cancel(reserved(order("refused"), 7), 7));
        }
        found(8, stock.amount(ITEM));
        sales("7 2 sold");
    }

    @Test
    void anOwnerThatHasNotClaimedWritesNothing() {
        refused(stock.set("unread", 10, 7));
        found(0, stock.amount("unread"));
    }

    private static Order order(String id) {
        return new Order(id, ITEM, 2);
    }

    private void stocked(int amount) {
        try (RedisClient client = RedisClient.create(REDIS.server().uri())) {
            assertThat(client.connect().sync().flushall()).isEqualTo("OK");
        }
        done(stock.claim(ITEM, 6));
        done(stock.set(ITEM, amount, 6));
    }

    private Receipt reserved(Order order, long token) {
        return stock.reserve(order, token).block(Customer.LIMIT);
    }

    private void sales(String... expected) {
        StepVerifier.create(stock.sales(ITEM))
                .expectNext(expected)
                .expectComplete()
                .verify(Customer.LIMIT);
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
