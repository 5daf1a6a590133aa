package io.holdfast.testkit;

import java.time.Duration;

/**
 * What happens to one request on its way. Durations are measured by the timer of the {@link FaultyLockBackend}.
 *
 * @param reaches whether the request reaches the store
 * @param requestDelay how long it takes there
 * @param copies how many more times it reaches the store
 * @param copyDelay how long after the first the copies arrive; their answers go nowhere
 * @param reply what the caller gets
 * @param replyDelay how long the reply takes
 */
public record Fault(
        boolean reaches, Duration requestDelay, int copies, Duration copyDelay, Reply reply, Duration replyDelay) {

    private static final Fault NONE = new Fault(true, Duration.ZERO, 0, Duration.ZERO, Reply.ANSWER, Duration.ZERO);

    /** What the caller gets in the end. */
    public enum Reply {
        /** The store's answer. */
        ANSWER,
        /** A transient error. */
        TRANSIENT_ERROR,
        /** An error that trying again does not mend. */
        PERMANENT_ERROR,
        /** Nothing, ever. */
        SILENCE
    }

    /**
     * No fault.
     *
     * @return the request and its reply pass at once
     */
    public static Fault none() {
        return NONE;
    }

    /**
     * The request never reaches the store; the caller gets a transient error.
     *
     * @return a fault
     */
    public static Fault lostRequest() {
        return new Fault(false, Duration.ZERO, 0, Duration.ZERO, Reply.TRANSIENT_ERROR, Duration.ZERO);
    }

    /**
     * The request is carried out; the caller gets a transient error.
     *
     * @return a fault
     */
    public static Fault lostReply() {
        return NONE.replying(Reply.TRANSIENT_ERROR);
    }

    /**
     * The store refuses: nothing is carried out, and trying again is of no use.
     *
     * @return a fault
     */
    public static Fault refused() {
        return lostRequest().replying(Reply.PERMANENT_ERROR);
    }

    /**
     * The request takes its time.
     *
     * @param time how long
     * @return a fault
     */
    public static Fault delayedRequest(Duration time) {
        return new Fault(true, time, 0, Duration.ZERO, Reply.ANSWER, Duration.ZERO);
    }

    /**
     * The request is carried out at once; the reply takes its time.
     *
     * @param time how long
     * @return a fault
     */
    public static Fault delayedReply(Duration time) {
        return new Fault(true, Duration.ZERO, 0, Duration.ZERO, Reply.ANSWER, time);
    }

    /**
     * The request reaches the store twice.
     *
     * @param later how long after the first the second arrives
     * @return a fault
     */
    public static Fault duplicated(Duration later) {
        return new Fault(true, Duration.ZERO, 1, later, Reply.ANSWER, Duration.ZERO);
    }

    /**
     * The same, but the caller gets no reply at all.
     *
     * @return a copy
     */
    public Fault silently() {
        return replying(Reply.SILENCE);
    }

    /**
     * The same with another reply.
     *
     * @param other what the caller gets
     * @return a copy
     */
    public Fault replying(Reply other) {
        return new Fault(reaches, requestDelay, copies, copyDelay, other, replyDelay);
    }
}
