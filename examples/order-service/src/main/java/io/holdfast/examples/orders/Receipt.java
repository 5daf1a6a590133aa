package io.holdfast.examples.orders;

/**
 * A sale or a reservation.
 *
 * @param id of the order
 * @param left the items in stock after it
 * @param fencingToken the token of the lease under which the items were reserved
 */
record Receipt(String id, String item, int quantity, int left, long fencingToken) {

    /** Parses a receipt of the scripts. */
    static Receipt parse(String id, String item, String text) {
        String[] parts = text.split(" ", 3);
        return new Receipt(id, item, Integer.parseInt(parts[0]), Integer.parseInt(parts[1]), Long.parseLong(parts[2]));
    }

    Order order() {
        return new Order(id, item, quantity);
    }
}
