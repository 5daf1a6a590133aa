package io.holdfast;

/** Why a lease ended before it was released. */
public enum LossReason {

    /** The local deadline passed without a confirmed renewal, or the longest hold time was reached. */
    EXPIRED,

    /**
     * The lock is not held by this lease any more: the store says so, or this is a nested lease and the outermost one was released
     * before it.
     */
    NOT_HELD,

    /** The session with the store ended, and with it all that it held. */
    DISCONNECTED,

    /** The {@link LockClient} was closed, by its owner or because its timer was disposed. */
    CLIENT_CLOSED;

    /** Where no more is known. */
    String why() {
        return switch (this) {
            case EXPIRED -> "its deadline passed without a confirmed renewal, or its longest hold time was reached";
            case NOT_HELD -> "the store says that this lease does not hold it any more";
            case DISCONNECTED -> "the session with the store ended";
            case CLIENT_CLOSED -> "the lock client was closed";
        };
    }
}
