package io.holdfast.examples.fenced;

/**
 * A sale or a reservation.
 *
 * @param token the fencing token of the lease under which the items were reserved
 */
record Receipt(String id, String item, int quantity, long token) {

    Order order() {
        return new Order(id, item, quantity);
    }
}
