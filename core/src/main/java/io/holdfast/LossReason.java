package io.holdfast;

/** Why a lease ended before it was released. */
public enum LossReason {

    /** The local deadline passed without a confirmed renewal, or the longest hold time was reached. */
    EXPIRED,

    /** The store says that somebody else holds the lock, or nobody. */
    NOT_HELD,

    /** The session with the store ended, and with it all that it held. */
    DISCONNECTED,

    /** The {@link LockClient} was closed. */
    CLIENT_CLOSED
}
