package io.holdfast.internal.claim;

/** The next action of a lease. */
public enum LeaseAction {

    /** Do nothing. */
    NONE,

    /** Send a renewal. */
    RENEW,

    /** Send the release, and repeat it until it is answered or the deadline passes. */
    RELEASE,

    /** Signal the release. */
    SIGNAL_RELEASED,

    /** Wait for the end of the renewal in flight. */
    STOP_RENEWING,

    /** Send the renewal that makes the lease a whole one, and wait for its end. */
    RENEW_BEFORE_EXPORT,

    /** Emit the text by which another process takes the lease over. */
    EXPORT,

    /** Send a request that turns the writer into a reader. */
    ASK_FOR_READ_LEASE,

    /** Open the read lease that continues the claim. */
    GO_ON_AS_READER,

    /** Signal the loss; the server does not keep the lock for this claim any more. */
    SIGNAL_LOSS,

    /** Signal the loss, and release the lock: the server may still keep it for this claim. */
    SIGNAL_LOSS_AND_RELEASE
}
