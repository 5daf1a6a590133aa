package io.holdfast.examples.flashsale;

/**
 * A line that a shop wrote to its standard output. An unknown line comes from the log of its libraries.
 *
 * @param shop the shop that wrote it
 * @param text the line
 */
record ShopLine(ShopProcess shop, String text) {

    /** From a shop: the shop is connected. */
    static final String READY = "flash-sale ready";

    /** From a shop, followed by a fencing token: the shop holds the lock, and keeps it. */
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
