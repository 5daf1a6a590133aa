package io.holdfast.examples.orders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockLostException;
import io.holdfast.LossReason;
import io.holdfast.test.TestLocks;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** Each paid order is sold once, at whatever step it was interrupted. The stock is in a real Redis; the locks are those of the test. */
class OrdersIT {

    /** Takes the money of an order once. The test decides what then happens to the first caller. */
    private static final class Till implements Payments {

        private final Map<String, Integer> taken = new ConcurrentHashMap<>();
        private final Set<String> refused = ConcurrentHashMap.newKeySet();
        private final AtomicReference<Function<Order, Mono<Void>>> afterwards = new AtomicReference<>();

        @Override
        public Mono<Void> charge(Order order) {
            return Mono.defer(() -> {
                if (refused.contains(order.reference())) {
                    return Mono.error(new PaymentRefusedException(order));
                }
                taken.putIfAbsent(order.reference(), order.quantity());
                Function<Order, Mono<Void>> then = afterwards.getAndSet(null);
                return then == null ? Mono.empty() : then.apply(order);
            });
        }

        void afterwards(Function<Order, Mono<Void>> then) {
            afterwards.set(then);
        }
    }

    @RegisterExtension
    static final RealStock REDIS = new RealStock();

    @RegisterExtension
    final TestLocks locks = TestLocks.realTime();

    private final Till till = new Till();
    private final StockStore stock;
    private final Orders orders;

    /** Another instance. */
    private final Orders other;

    private String item;

    OrdersIT() throws Exception {
        stock = REDIS.store();
        orders = new Orders(locks.client(), stock, till);
        other = new Orders(locks.client(second -> second), stock, till);
    }

    @BeforeEach
    void fill(TestInfo test) {
        item = test.getDisplayName();
        locks.await(orders.restock(item, 10));
    }

    @AfterEach
    void assertThatPaidOrdersAreSold() {
        Map<String, Integer> sold = stock.sales(item)
                .map(sale -> sale.split(" ", 3))
                .collectMap(sale -> item + "/" + sale[2], sale -> Integer.valueOf(sale[1]))
                .block(Customer.LIMIT);
        assertThat(sold).isEqualTo(till.taken);
        assertThat(stock.sales(item).count().block(Customer.LIMIT)).isEqualTo(sold.size());
        assertThat(stock.reserved(item).collectList().block(Customer.LIMIT)).isEmpty();
        assertThat(stock.amount(item).block(Customer.LIMIT))
                .isEqualTo(
                        10 - sold.values().stream().mapToInt(Integer::intValue).sum());
    }

    private Order order(String id) {
        return new Order(id, item, 2);
    }

    private String lock() {
        return "stock/" + item;
    }

    private void placed(Orders shop, String id, int left) {
        StepVerifier.create(shop.place(order(id)))
                .assertNext(receipt -> assertThat(receipt.left()).isEqualTo(left))
                .expectComplete()
                .verify(Customer.LIMIT);
    }

    private void fails(Orders shop, String id, Class<? extends Throwable> error) {
        StepVerifier.create(shop.place(order(id))).expectError(error).verify(Customer.LIMIT);
    }

    @Test
    void theSameOrderAgainGetsTheSameReceiptAndPaysOnce() {
        Receipt first = locks.await(orders.place(order("a")));
        placed(orders, "b", 6);

        assertThat(locks.await(other.place(order("a")))).isEqualTo(first);
    }

    @Test
    void theIdOfAnOrderForAnotherQuantityIsRefused() {
        placed(orders, "a", 8);

        StepVerifier.create(orders.place(new Order("a", item, 3)))
                .expectError(OtherOrderException.class)
                .verify(Customer.LIMIT);
    }

    /** The payment service would read the second order as a repetition of the first one, and take no money. */
    @Test
    void noTwoOrdersHaveTheSameReference() {
        placed(orders, "b/c", 8);

        assertThatThrownBy(() -> new Order("c", item + "/b", 2)).isInstanceOf(IllegalArgumentException.class);
        assertThat(new Order("c", item, 2).reference())
                .isNotEqualTo(order("b/c").reference());
    }

    @Test
    void noMoneyIsTakenForASoldOutItem() {
        locks.await(orders.restock(item, 1));

        fails(orders, "a", SoldOutException.class);

        locks.await(orders.restock(item, 10));
    }

    @Test
    void aRefusedPaymentPutsTheItemsBack() {
        till.refused.add(order("poor").reference());

        fails(orders, "poor", PaymentRefusedException.class);
        fails(orders, "poor", PaymentRefusedException.class);

        placed(orders, "rich", 8);
    }

    @Test
    void anOrderWhoseLockIsLostAfterThePaymentIsSoldByTheSameOrderSentAgain() {
        till.afterwards(paid -> Mono.fromRunnable(() -> locks.held(lock()).lose(LossReason.NOT_HELD)));

        fails(orders, "a", LockLostException.class);

        placed(other, "a", 8);
    }

    @Test
    void anOrderWhoseLockIsLostAfterThePaymentIsSoldByTheNextOrder() {
        till.afterwards(paid -> Mono.fromRunnable(() -> locks.held(lock()).lose(LossReason.EXPIRED)));

        fails(orders, "a", LockLostException.class);

        placed(other, "b", 6);
    }

    /** The former owner pauses after the payment. The next owner finds its reservation, and sells it. */
    @Test
    void aFormerOwnerConfirmsNothing() {
        till.afterwards(paid -> {
            locks.held(lock()).freeze();
            return other.place(order("b")).then();
        });

        fails(orders, "a", StaleLeaseException.class);

        placed(orders, "a", 8); // the first receipt
    }

    @Test
    void anOrderWhosePaymentAnswerIsLostIsSoldByTheSameOrderSentAgain() {
        till.afterwards(paid -> Mono.error(new IllegalStateException("no answer")));

        fails(orders, "a", IllegalStateException.class);

        placed(orders, "a", 8);
    }

    @Test
    void anOrderIsSoldThoughItsCustomerDisconnectsAfterThePayment() throws Exception {
        CountDownLatch isPaid = new CountDownLatch(1);
        till.afterwards(paid -> Mono.fromRunnable(isPaid::countDown).then(Mono.never()));
        Disposable customer = orders.place(order("a")).subscribe();
        isPaid.await();

        customer.dispose();

        placed(other, "b", 6);
        placed(orders, "a", 8);
    }

    /** An order leaves a reservation behind, and the payment service refuses it later. */
    @Test
    void aReservationWhosePaymentIsRefusedLaterGoesBackAndDoesNotStopTheNextOrder() {
        locks.await(stock.claim(item, 1));
        Receipt left = locks.await(stock.reserve(order("poor"), 1));
        assertThat(left.left()).isEqualTo(8);
        till.refused.add(order("poor").reference());

        placed(orders, "rich", 8);
    }
}
