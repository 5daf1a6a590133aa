package io.holdfast.r2dbc.internal.lane;

/**
 * How many calls may share the next transaction: as many as the server answers in a small part of the time limit of a reply. So a renewal that comes
 * meanwhile is answered in time, however many claims there are. Immutable.
 *
 * @param calls {@value #LEAST} to {@value #MOST}
 */
record BatchLimit(int calls) {

    /** A batch holds the rows of its locks until it commits. */
    static final int MOST = 512;

    /** A server that is slow whatever it is asked, as with a slow disk, answers more calls the more share a transaction. */
    static final int LEAST = 128;

    private static final int LONGEST_PART = 4;

    /**
     * The limit after a batch was answered.
     *
     * @param sent calls in it
     * @param tookMillis from sending it to its answer
     * @param limitMillis of a reply
     */
    BatchLimit after(int sent, long tookMillis, long limitMillis) {
        if (tookMillis * LONGEST_PART > limitMillis) {
            return new BatchLimit(Math.max(LEAST, Math.min(sent, calls) / 2));
        }
        boolean isFast = tookMillis * LONGEST_PART * 2 < limitMillis;
        return isFast && sent == calls ? new BatchLimit(Math.min(MOST, calls * 2)) : this;
    }
}
