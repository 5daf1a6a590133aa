package io.holdfast.redlock.internal.quorum;

/**
 * The least token that this client requests from the masters, so that all of them normally grant exactly that one
 * without a second round. It is only a proposal: tokens rise because a majority holds the same one, with any proposal
 * and any clocks.
 *
 * <p>A proposal has to be above what the masters would give by themselves: the last token of the lock plus one, or
 * their clock. This class does not remember the last token of each lock. It remembers the highest of all, and by how
 * much other clients' tokens were ahead of the proposals that this client would have made: that is how far their clocks
 * are ahead. Without the lead, a client whose clock is behind needs a second round when a master has missed a grant.
 *
 * <p>It believes both up to {@link #MOST_LEAD_MICROS}, and forgets neither. Clients that follow each other's tokens keep a lead alive long
 * after the clock that caused it is right again. When the masters have lost their data, tokens rise by the clocks alone:
 * a new client, without that lead, would get lower tokens.
 *
 * <p>All times are microseconds of this client's wall clock. Immutable.
 *
 * @param last the highest token seen
 * @param lead the largest lead seen
 */
public record TokenFloor(long last, long lead) {

    /**
     * Every token stays exact in a double, with room for 2^40 grants above any floor; masters refuse a floor that is
     * not below this limit.
     */
    public static final long LIMIT = (1L << 53) - (1L << 40);

    /**
     * Two grants, one before and one after the masters have lost their data, have to be so much further apart. A usual
     * quarantine is longer.
     */
    static final long MOST_LEAD_MICROS = 1_000_000L;

    /** Well-kept clocks differ by less. */
    static final long HEADROOM_MICROS = 1_000_000L;

    /** No clock makes a client propose more, so that all clients believe it: the year 2112. */
    static final long MOST_PROPOSED = 1L << 52;

    /** Clocks of masters and clients differ by less: 142 years. */
    private static final long MOST_AHEAD_MICROS = 1L << 52;

    /** As far below the limit as grants of decades raise a token. */
    private static final long MOST_BELIEVED = LIMIT - (1L << 50);

    public static TokenFloor initial() {
        return new TokenFloor(0, 0);
    }

    /** Returns the highest token that a client believes from one master alone. */
    public static long mostBelieved(long nowMicros) {
        return Math.min(Math.max(0, nowMicros), MOST_BELIEVED - MOST_AHEAD_MICROS) + MOST_AHEAD_MICROS;
    }

    /** Returns the floor to propose now; 0, for none, if there is no valid one. */
    public long proposed(long nowMicros) {
        long least = nowMicros + HEADROOM_MICROS;
        long wanted = Math.max(last + 1, least + lead);
        long floor = Math.min(wanted, least + MOST_LEAD_MICROS);
        return floor > 0 && floor <= MOST_PROPOSED ? floor : 0;
    }

    /** Learns from a token that was granted. */
    public TokenFloor seen(long token, long proposal, long nowMicros) {
        // This client's own proposal shows nothing about others, and would drive its next one further.
        long beyond = token <= proposal ? 0 : token + 1 - nowMicros - HEADROOM_MICROS;
        long itsLead = Math.min(MOST_LEAD_MICROS, Math.max(lead, beyond));
        return new TokenFloor(Math.max(last, token), itsLead);
    }
}
