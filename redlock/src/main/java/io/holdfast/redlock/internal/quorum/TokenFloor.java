package io.holdfast.redlock.internal.quorum;

/**
 * The least token that a client requests from the masters, so that all of them normally grant exactly that one without
 * a second round. It is only a proposal: tokens rise because a majority holds the same one, with any proposal and any
 * clocks.
 *
 * <p>A proposal is above the clocks of masters and clients that are kept well. It follows the client's clock alone:
 * after the masters have lost their data, tokens rise by the clocks, and a proposal that other tokens had driven further
 * ahead would be above the next token of another client.
 */
public final class TokenFloor {

    /**
     * Every token stays exact in a double, with room for 2^40 grants above any floor; masters refuse a floor that is
     * not below this limit.
     */
    public static final long LIMIT = (1L << 53) - (1L << 40);

    /** Well-kept clocks differ by less. */
    static final long HEADROOM_MICROS = 1_000_000L;

    private TokenFloor() {}

    /**
     * Returns the floor to propose now; 0, for none, if there is no valid one.
     *
     * @param nowMicros the time of the client's wall clock
     */
    public static long proposed(long nowMicros) {
        long floor = nowMicros + HEADROOM_MICROS;
        return floor > 0 && floor < LIMIT ? floor : 0;
    }
}
