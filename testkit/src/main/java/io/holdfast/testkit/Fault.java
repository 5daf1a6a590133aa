package io.holdfast.testkit;

import java.time.Duration;

/**
 * A fault of one request. The timer of the {@link FaultyLockBackend} measures its durations.
 *
 * @param reaches whether the request reaches the back end
 * @param requestDelay how long the request takes
 * @param copies how many more times it reaches the back end
 * @param copyDelay how long after the first request the copies arrive; their answers are dropped
 * @param reply the reply to the caller
 * @param replyDelay how long the reply takes
 */
public record Fault(
        boolean reaches, Duration requestDelay, int copies, Duration copyDelay, Reply reply, Duration replyDelay) {

    private static final Fault NONE = new Fault(true, Duration.ZERO, 0, Duration.ZERO, Reply.ANSWER, Duration.ZERO);

    /** The reply to the caller. */
    public enum Reply {
        /** The answer of the back end. */
        ANSWER,
        /** A transient error. */
        TRANSIENT_ERROR,
        /** An error that another attempt does not mend. */
        PERMANENT_ERROR,
        /** No reply at all. */
        SILENCE
    }

    /**
     * Returns no fault.
     *
     * @return a fault with which the request and its reply pass at once
     */
    public static Fault none() {
        return NONE;
    }

    /**
     * Returns a fault that loses the request; the caller gets a transient error.
     *
     * @return a fault
     */
    public static Fault lostRequest() {
        return new Fault(false, Duration.ZERO, 0, Duration.ZERO, Reply.TRANSIENT_ERROR, Duration.ZERO);
    }

    /**
     * Returns a fault that loses the reply: the request is carried out, and the caller gets a transient error.
     *
     * @return a fault
     */
    public static Fault lostReply() {
        return NONE.replying(Reply.TRANSIENT_ERROR);
    }

    /**
     * Returns a refusal: the request is not carried out, and another attempt does not help.
     *
     * @return a fault
     */
    public static Fault refused() {
        return lostRequest().replying(Reply.PERMANENT_ERROR);
    }

    /**
     * Returns a fault that delays the request.
     *
     * @param time the delay
     * @return a fault
     */
    public static Fault delayedRequest(Duration time) {
        return new Fault(true, time, 0, Duration.ZERO, Reply.ANSWER, Duration.ZERO);
    }

    /**
     * Returns a fault that delays the reply: the request is carried out at once.
     *
     * @param time the delay
     * @return a fault
     */
    public static Fault delayedReply(Duration time) {
        return new Fault(true, Duration.ZERO, 0, Duration.ZERO, Reply.ANSWER, time);
    }

    /**
     * Returns a fault that doubles the request.
     *
     * @param later how long after the first request the second arrives
     * @return a fault
     */
    public static Fault duplicated(Duration later) {
        return new Fault(true, Duration.ZERO, 1, later, Reply.ANSWER, Duration.ZERO);
    }

    /**
     * Returns this fault without a reply.
     *
     * @return a copy
     */
    public Fault silently() {
        return replying(Reply.SILENCE);
    }

    /**
     * Returns this fault with another reply.
     *
     * @param other the reply to the caller
     * @return a copy
     */
    public Fault replying(Reply other) {
        return new Fault(reaches, requestDelay, copies, copyDelay, other, replyDelay);
    }
}
