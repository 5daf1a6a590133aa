package io.holdfast.examples.orders;

/**
 * What was sold.
 *
 * @param left what is in stock now
 * @param fencingToken of the lease under which it was sold
 */
record Receipt(String item, int quantity, int left, long fencingToken) {

    Receipt(Order order, int left, long fencingToken) {
        this(order.item(), order.quantity(), left, fencingToken);
    }
}
