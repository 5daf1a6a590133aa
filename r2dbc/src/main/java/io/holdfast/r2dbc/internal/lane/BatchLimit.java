package io.holdfast.r2dbc.internal.lane;

/**
 * How many calls may share the next transaction: as many as the server answers in a small part of the time limit of a reply. So a renewal
 * that arrives meanwhile is answered in time, even with many claims. Immutable.
 *
 * @param calls {@value #LEAST} to {@value #MOST}
 */
record BatchLimit(int calls) {

    /** A batch locks the rows of its locks until it commits. */
    static final int MOST = 512;

    /**
     * If each request to a server is slow, as with a slow disk, the server answers more calls per second when more of them share a
     * transaction.
     */
    static final int LEAST = 128;

    private static final int LONGEST_PART = 4;

    /**
     * Returns the limit after a batch was answered.
     *
     * @param sent the calls in the batch
     * @param tookMillis the time from sending the batch to its answer
     * @param limitMillis the time limit of a reply
     */
    BatchLimit after(int sent, long tookMillis, long limitMillis) {
        if (tookMillis * LONGEST_PART > limitMillis) {
            return new BatchLimit(Math.max(LEAST, Math.min(sent, calls) / 2));
        }
        boolean isFast = tookMillis * LONGEST_PART * 2 < limitMillis;
        return isFast && sent == calls ? new BatchLimit(Math.min(MOST, calls * 2)) : this;
    }
}
