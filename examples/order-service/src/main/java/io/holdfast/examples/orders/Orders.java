package io.holdfast.examples.orders;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.ReactiveLock;
import org.springframework.stereotype.Service;
import reactor.core.publisher.Mono;

/** Sells and restocks, one at a time for each item. */
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
        return lockOf(order.item()).withLock(lease -> sell(order, lease)); // released before the receipt is passed on
    }

    private Mono<Receipt> sell(Order order, LockLease lease) {
        long token = lease.fencingToken();
        return stock.read(order.item(), token) // leaves the token: from here on no former owner writes
                .filter(amount -> amount >= order.quantity())
                .switchIfEmpty(Mono.error(() -> new SoldOutException(order)))
                .delayUntil(amount -> payments.charge(order)) // the stock must not change meanwhile
                .map(amount -> new Receipt(order, amount - order.quantity(), token))
                .delayUntil(stock::sell); // refused if a later owner has read
    }
    // README: end

    Mono<Void> restock(String item, int amount) {
        return lockOf(item).withLock(lease -> {
            long token = lease.fencingToken();
            return stock.read(item, token).flatMap(before -> stock.set(item, amount, token));
        });
    }

    private ReactiveLock lockOf(String item) {
        return locks.lock("stock/" + item);
    }
}
