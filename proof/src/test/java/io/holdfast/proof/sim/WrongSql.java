package io.holdfast.proof.sim;

/** A wrong part of the functions of a database, or of the client that calls them. */
enum WrongSql {
    NONE,

    /** A lock is granted although a transaction that was fenced by the last holder is still open. */
    GRANT_BESIDE_A_FENCE,

    /** The attempt of a claim that was released takes the lock. */
    NO_TOMBSTONE,

    /** A waiter that comes back has a ticket before the last served one. */
    TICKET_THAT_IS_NOT_LOWERED,

    /** Each claim may end the hold of any other one. */
    RELEASE_BY_ANYBODY,

    /** A grant is answered before it is on the disk. */
    GRANT_THAT_IS_NOT_FLUSHED,

    /** The client releases a claim as if all attempts had been answered. */
    RELEASE_THAT_IS_SURE,

    /** The client takes the answers of a batch in another order. */
    ANSWERS_IN_ANOTHER_ORDER
}
