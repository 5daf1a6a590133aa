package io.holdfast.examples.orders;

import io.holdfast.LockClient;
import io.holdfast.ReactiveLock;
import org.springframework.stereotype.Service;
import reactor.core.publisher.Mono;

/**
 * Sells and restocks, one request at a time for each item. An order is reserved, paid, and confirmed. If an instance stops in between, the next order
 * of the item completes the unfinished one, and so does the same order when it is sent again. In the end, each paid order is sold once.
 */
@Service
class Orders {

    private final LockClient locks;
    private final StockStore stock;
    private final Payments payments;

    Orders(LockClient locks, StockStore stock, Payments payments) {
        this.locks = locks;
        this.stock = stock;
        this.payments = payments;
    }

    // README: begin
    Mono<Receipt> place(Order order) {
        return lockOf(order.item()).withLock(lease -> place(order, lease.fencingToken()));
    }

    private Mono<Receipt> place(Order order, long token) {
        return stock.claim(order.item(), token) // stores the token: no former owner writes any more
                .thenMany(stock.reserved(order.item())) // begun by a former owner that did not finish
                .concatMap(begun -> pay(begun, token).onErrorComplete(PaymentRefusedException.class))
                .then(stock.sold(order)) // sent before: returns the first receipt
                .switchIfEmpty(Mono.defer(() -> stock.reserve(order, token).flatMap(begun -> pay(begun, token))));
    }

    private Mono<Receipt> pay(Receipt reserved, long token) {
        return payments.charge(reserved.order()) // once for each order, also if called again
                .onErrorResume(
                        PaymentRefusedException.class,
                        refused -> stock.cancel(reserved, token).then(Mono.error(refused)))
                .then(stock.confirm(reserved, token)) // fails if a later owner has claimed and confirms
                .thenReturn(reserved);
    }
    // README: end

    Mono<Void> restock(String item, int amount) {
        return lockOf(item)
                .withLock(lease ->
                        stock.claim(item, lease.fencingToken()).then(stock.set(item, amount, lease.fencingToken())));
    }

    private ReactiveLock lockOf(String item) {
        return locks.lock("stock/" + item);
    }
}
