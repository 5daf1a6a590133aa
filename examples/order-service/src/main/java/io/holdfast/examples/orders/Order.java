package io.holdfast.examples.orders;

/** What somebody wants. */
record Order(String item, int quantity) {

    Order {
        if (item.isBlank() || quantity < 1) {
            throw new IllegalArgumentException("an order names an item and at least one of it");
        }
    }
}
