package io.holdfast.examples.flashsale;

/**
 * A line that a shop wrote to its standard output. What is none of the known ones is something that its libraries log.
 *
 * @param shop who wrote it
 * @param text what
 */
record ShopLine(ShopProcess shop, String text) {

    /** From a shop: it is connected. */
    static final String READY = "flash-sale ready";

    /** From a shop, with a fencing token after it: it has the lock in hand, and keeps it. */
    static final String HOLDING = "flash-sale holding ";

    /** To a shop: begin to serve. */
    static final String OPEN = "flash-sale open";

    /** From the coordinator's reader: the shop's output has ended. */
    static final String ENDED = "flash-sale ended";

    boolean isHolding() {
        return text.startsWith(HOLDING);
    }

    long tokenInHand() {
        return Long.parseLong(text.substring(HOLDING.length()));
    }
}
