package io.holdfast.examples.fenced;

/**
 * The order of a customer.
 *
 * @param id chosen by the customer. An order that is sent again after a lost answer has the same id
 */
record Order(String id, String item, int quantity) {

    Order {
        if (id.isBlank() || item.isBlank() || quantity < 1) {
            throw new IllegalArgumentException("an order has an id, names an item and at least one of it");
        }
    }
}
