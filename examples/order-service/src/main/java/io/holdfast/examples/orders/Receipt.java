package io.holdfast.examples.orders;

/**
 * What was sold, or is reserved.
 *
 * @param id of the order
 * @param left what was in stock after it
 * @param fencingToken of the lease under which it was reserved
 */
record Receipt(String id, String item, int quantity, int left, long fencingToken) {

    /** As the scripts write it. */
    static Receipt parse(String id, String item, String text) {
        String[] parts = text.split(" ", 3);
        return new Receipt(id, item, Integer.parseInt(parts[0]), Integer.parseInt(parts[1]), Long.parseLong(parts[2]));
    }

    Order order() {
        return new Order(id, item, quantity);
    }
}
