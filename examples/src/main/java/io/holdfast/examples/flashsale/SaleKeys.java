package io.holdfast.examples.flashsale;

/**
 * The keys of one sale in Redis.
 *
 * @param prefix the prefix of all keys; unique to the sale, so that two sales on one server do not share keys
 */
record SaleKeys(String prefix) {

    /** A number: the items that are left. */
    String stock() {
        return prefix + ":stock";
    }

    /** A list: the buyers that no shop has taken yet. */
    String queue() {
        return prefix + ":queue";
    }

    /** A list: the buyers that a shop has taken, answered or not. */
    String takenBy(String shop) {
        return prefix + ":taken:" + shop;
    }

    /** A list: every answer, in the order in which Redis received it. */
    String ledger() {
        return prefix + ":ledger";
    }

    /** The one lock of the sale. */
    String lockName() {
        return prefix + ":stock";
    }
}
