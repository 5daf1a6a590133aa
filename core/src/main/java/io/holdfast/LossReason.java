package io.holdfast;

/** Why a lease ended before it was released. */
public enum LossReason {

    /** The local deadline passed without a confirmed renewal. */
    EXPIRED,

    /** The lease was held for its {@link LockOptions#maxHoldTime()}. */
    MAX_HOLD_TIME,

    /**
     * The lease does not hold the lock any more: the back end says so, or this is a nested lease and the outermost one
     * was released before it.
     */
    NOT_HELD,

    /** The session with the server ended, and with it all its leases. */
    DISCONNECTED,

    /** The {@link LockClient} was closed, by its owner or because its timer was disposed. */
    CLIENT_CLOSED;

    /** Returns the words for a message when only the reason is known. */
    String why() {
        return switch (this) {
            case EXPIRED -> "its deadline passed without a confirmed renewal";
            case MAX_HOLD_TIME -> "its longest hold time (maxHoldTime) was reached";
            case NOT_HELD -> "the back end says that this lease does not hold it any more";
            case DISCONNECTED -> "the session with the server ended";
            case CLIENT_CLOSED -> "the lock client was closed";
        };
    }
}
