package io.holdfast.internal.state;

/** What a lease does next. */
public enum LeaseAction {

    /** Nothing. */
    NONE,

    /** Send a renewal. */
    RENEW,

    /** Send the release, and again until it is answered or the deadline passes. */
    RELEASE,

    /** Tell that it was released. */
    SIGNAL_RELEASED,

    /** Wait for the end of the renewal in flight. */
    STOP_RENEWING,

    /** Send the renewal that makes the lease a whole one, and wait for its end. */
    RENEW_BEFORE_EXPORT,

    /** Give the text by which another process takes it over. */
    EXPORT,

    /** Ask the store to make a reader of the writer. */
    ASK_FOR_READ_LEASE,

    /** Open the read lease that goes on with the claim. */
    GO_ON_AS_READER,

    /** Tell that it was lost; the store has it no more. */
    SIGNAL_LOSS,

    /** Tell that it was lost, and release it: for the store it may still be held. */
    SIGNAL_LOSS_AND_RELEASE
}
