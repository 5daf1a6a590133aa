package io.holdfast.examples.fenced;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.r2dbc.Fence;
import java.util.Objects;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.reactive.TransactionalOperator;
import reactor.core.publisher.Mono;

/** Sells, one order at a time for each item, and each order once. */
@Service
class Orders {

    private final LockClient locks;
    private final DatabaseClient database;
    private final TransactionalOperator transactions;
    private final Payments payments;

    Orders(LockClient locks, DatabaseClient database, TransactionalOperator transactions, Payments payments) {
        this.locks = locks;
        this.database = database;
        this.transactions = transactions;
        this.payments = payments;
    }

    /** An order that was sold before gets the receipt of then. */
    Mono<Receipt> place(Order order) {
        return locks.lock("stock/" + order.item())
                .withLock(lease -> sold(order).switchIfEmpty(Mono.defer(() -> sell(order, lease))));
    }

    /** No transaction is open while the payment takes its time. */
    private Mono<Receipt> sell(Order order, LockLease lease) {
        return amount(order.item())
                .filter(amount -> amount >= order.quantity())
                .switchIfEmpty(Mono.error(() -> new SoldOutException(order)))
                .delayUntil(amount -> payments.charge(order))
                .flatMap(amount -> commit(order, amount - order.quantity(), lease));
    }

    /**
     * If the lease is still the current one, no other instance has held the lock since the amount was read, and none gets it before the commit. Otherwise
     * the check fails, and nothing is written.
     */
    private Mono<Receipt> commit(Order order, int left, LockLease lease) {
        Receipt receipt = new Receipt(order.id(), order.item(), order.quantity(), lease.fencingToken());
        return database.inConnection(connection -> Fence.check(connection, lease))
                .then(write(receipt, left))
                .as(transactions::transactional)
                .thenReturn(receipt);
    }

    private Mono<Void> write(Receipt receipt, int left) {
        return database.sql("update stock set amount = :left where item = :item")
                .bind("left", left)
                .bind("item", receipt.item())
                .then()
                .then(database.sql("insert into orders values (:id, :item, :quantity, :token)")
                        .bind("id", receipt.id())
                        .bind("item", receipt.item())
                        .bind("quantity", receipt.quantity())
                        .bind("token", receipt.token())
                        .then());
    }

    private Mono<Integer> amount(String item) {
        return database.sql("select amount from stock where item = :item")
                .bind("item", item)
                .mapValue(Integer.class)
                .one()
                .defaultIfEmpty(0);
    }

    private Mono<Receipt> sold(Order order) {
        return database.sql("select id, item, quantity, token from orders where id = :id")
                .bind("id", order.id())
                .map(row -> new Receipt(
                        Objects.requireNonNull(row.get("id", String.class)),
                        Objects.requireNonNull(row.get("item", String.class)),
                        Objects.requireNonNull(row.get("quantity", Integer.class)),
                        Objects.requireNonNull(row.get("token", Long.class))))
                .one();
    }
}
