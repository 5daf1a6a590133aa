package io.holdfast.examples.orders;

/**
 * What a customer wants.
 *
 * @param id chosen by the customer: the same order again, after a lost answer, has the same id
 */
record Order(String id, String item, int quantity) {

    Order {
        if (id.isBlank() || item.isBlank() || item.contains("/") || quantity < 1) {
            throw new IllegalArgumentException(
                    "an order has an id, and names an item, without a slash, and at least one of it");
        }
    }

    /**
     * By which the payment service knows it: an id of a customer is for one item. No item has a slash. Otherwise two orders could have one reference, and
     * the second one would be sold and not paid.
     */
    String reference() {
        return item + "/" + id;
    }
}
