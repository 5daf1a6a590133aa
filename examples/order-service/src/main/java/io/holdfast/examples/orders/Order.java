package io.holdfast.examples.orders;

/**
 * The order of a customer.
 *
 * @param id chosen by the customer. An order that is sent again after a lost answer has the same id
 */
record Order(String id, String item, int quantity) {

    Order {
        if (id.isBlank() || item.isBlank() || item.contains("/") || quantity < 1) {
            throw new IllegalArgumentException(
                    "an order has an id, and names an item, without a slash, and at least one of it");
        }
    }

    /**
     * Returns the reference of this order at the payment service: the item, a slash and the id, since an id is unique only within an item. No item has
     * a slash. Otherwise two orders could have the same reference, and the second one would be sold and not paid.
     */
    String reference() {
        return item + "/" + id;
    }
}
