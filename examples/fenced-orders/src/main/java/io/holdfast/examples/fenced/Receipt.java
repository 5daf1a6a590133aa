package io.holdfast.examples.fenced;

/**
 * What was sold, or is reserved.
 *
 * @param token of the lease under which it was reserved
 */
record Receipt(String id, String item, int quantity, long token) {

    Order order() {
        return new Order(id, item, quantity);
    }
}
