package io.holdfast.examples.fenced;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.r2dbc.Fence;
import io.r2dbc.spi.Readable;
import java.util.Objects;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.reactive.TransactionalOperator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Sells one order at a time for each item, and each order once. An order is reserved, paid, and confirmed. If an instance stops in between, the next order
 * of the item completes the unfinished one, and so does the same order when it is sent again. In the end, each paid order is sold.
 */
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

    /** Returns the first receipt for an order that was sold before. */
    Mono<Receipt> place(Order order) {
        return locks.lock("stock/" + order.item())
                .withLock(lease -> reserved(order.item()) // begun by a former owner that did not finish
                        .concatMap(begun -> pay(begun, lease).onErrorComplete(PaymentRefusedException.class))
                        .then(sold(order))
                        .switchIfEmpty(Mono.defer(() -> reserve(order, lease).flatMap(begun -> pay(begun, lease)))));
    }

    /** No transaction is open during the payment. */
    private Mono<Receipt> pay(Receipt reserved, LockLease lease) {
        return payments.charge(reserved.order()) // takes the money once for each order, also if called again
                .onErrorResume(
                        PaymentRefusedException.class,
                        refused -> cancel(reserved, lease).then(Mono.error(refused)))
                .then(confirm(reserved, lease)) // fails if there is a later owner, which then confirms
                .thenReturn(reserved);
    }

    private Mono<Receipt> reserve(Order order, LockLease lease) {
        Receipt receipt = new Receipt(order.id(), order.item(), order.quantity(), lease.fencingToken());
        return amount(order.item())
                .filter(amount -> amount >= order.quantity())
                .switchIfEmpty(Mono.error(() -> new SoldOutException(order)))
                .flatMap(amount -> owned(
                        lease,
                        setAmount(order.item(), amount - order.quantity())
                                .then(database.sql("insert into orders values (:id, :item, :quantity, :token, false)")
                                        .bind("id", receipt.id())
                                        .bind("item", receipt.item())
                                        .bind("quantity", receipt.quantity())
                                        .bind("token", receipt.token())
                                        .then())))
                .onErrorMap(DuplicateKeyException.class, used -> new OtherOrderException(order))
                .thenReturn(receipt);
    }

    private Mono<Void> confirm(Receipt reserved, LockLease lease) {
        return owned(
                lease,
                database.sql("update orders set paid = true where id = :id")
                        .bind("id", reserved.id())
                        .then());
    }

    private Mono<Void> cancel(Receipt reserved, LockLease lease) {
        return owned(
                lease,
                amount(reserved.item())
                        .flatMap(amount -> setAmount(reserved.item(), amount + reserved.quantity()))
                        .then(database.sql("delete from orders where id = :id")
                                .bind("id", reserved.id())
                                .then()));
    }

    /**
     * Checks that the lease is still the current one: no other instance has held the lock since the data was read, and none gets it before the commit.
     * Otherwise the check fails, and the transaction writes nothing.
     */
    private Mono<Void> owned(LockLease lease, Mono<Void> writes) {
        return database.inConnection(connection -> Fence.check(connection, lease))
                .then(writes)
                .as(transactions::transactional);
    }

    private Mono<Void> setAmount(String item, int amount) {
        return database.sql("update stock set amount = :amount where item = :item")
                .bind("amount", amount)
                .bind("item", item)
                .then();
    }

    private Mono<Integer> amount(String item) {
        return database.sql("select amount from stock where item = :item")
                .bind("item", item)
                .mapValue(Integer.class)
                .one()
                .defaultIfEmpty(0);
    }

    private Flux<Receipt> reserved(String item) {
        return database.sql("select id, item, quantity, token from orders where item = :item and not paid")
                .bind("item", item)
                .map(Orders::receipt)
                .all();
    }

    private Mono<Receipt> sold(Order order) {
        return database.sql("select id, item, quantity, token from orders where id = :id and paid")
                .bind("id", order.id())
                .map(Orders::receipt)
                .one()
                .doOnNext(before -> {
                    if (!before.order().equals(order)) {
                        throw new OtherOrderException(order);
                    }
                });
    }

    private static Receipt receipt(Readable row) {
        return new Receipt(
                Objects.requireNonNull(row.get("id", String.class)),
                Objects.requireNonNull(row.get("item", String.class)),
                Objects.requireNonNull(row.get("quantity", Integer.class)),
                Objects.requireNonNull(row.get("token", Long.class)));
    }
}
