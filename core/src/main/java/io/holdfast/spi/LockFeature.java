package io.holdfast.spi;

import io.holdfast.LockKind;

/** A feature that a back end may offer beyond an exclusive lock. */
public enum LockFeature {

    /** The back end serves waiters in order of arrival. */
    FIFO,

    /** The back end supports {@link LockKind#READ} and {@link LockKind#WRITE}. */
    READ_WRITE,

    /** The back end supports {@link LockKind#SEMAPHORE}. */
    SEMAPHORE,

    /** A claim of a semaphore may take several permits: the back end honours {@link LockClaim#permits()}. */
    MANY_PERMITS,

    /** The back end honours {@link LockClaim#tokenFloor()}. A member of a quorum needs it. */
    TOKEN_FLOOR,

    /**
     * The server keeps a claim until its lease ends, also when the client of the holder is gone, and a renewal sets a
     * new end, later or earlier. So {@link io.holdfast.LockOptions#minHoldTime()} works. A back end that ends all
     * claims of a client with its session does not have it.
     */
    MIN_HOLD,

    /** The back end supports {@link LockBackend#holders}. */
    HOLDERS,

    /**
     * Any client of the back end that knows a held claim may {@linkplain LockBackend#adopt adopt}, renew and release
     * it, not only the client that made it. So {@link io.holdfast.LockLease#export()} works. A back end that ties claims to the session, or to the memory, of
     * their client does not have it.
     */
    HAND_ON,

    /**
     * An attempt of {@link LockKind#READ} turns the claim that holds the lock as a writer into a reader, see
     * {@link LockBackend#tryAcquire}. So {@link io.holdfast.LockLease#downgrade()} works.
     */
    DOWNGRADE,

    /**
     * A server that restarts grants no lock that is still held: it keeps its locks, or it grants nothing for a while.
     * Members of a quorum need it. A back end over servers that may lose their locks has it only if its options say so.
     */
    SAFE_RESTART,

    /**
     * The back end grants a mutex to consecutive waiters of one client at once, as a {@link LockRun}. With
     * {@link #READ_WRITE}, it does the same for consecutive writers of a read/write lock. What it must keep:
     *
     * <ul>
     * <li><b>Members</b> are waiters of a mutex, or writers, that follow each other in the queue, with the same
     *     {@link LockClaim#client()}, which is not empty, the same lease duration, {@link Waiting#QUEUE} and no floor. A
     *     reader, or a waiter of another client, between two of them ends the run before it. The number of members is
     *     bounded.
     * <li><b>One hold</b>: the lock is held under the first member's claim until the run ends. {@link LockBackend#renew}
     *     and {@link LockBackend#holders} speak of that claim. The other members stay in the queue, ahead of all that
     *     came later, and do not become stale while the run lasts.
     * <li><b>The end</b>: only {@link LockBackend#endRun} with its number, the expiry of its lease or a break ends a
     *     run. Members that were not served keep their places. If none was served, the first of them gets the lock
     *     alone.
     * <li><b>A release of a member</b> withdraws that member, also the first one, and ends nothing else, unless it was
     *     the last one wanted. Then the run ends at once.
     * <li><b>An attempt of a member</b> gets the run again, and no second place.
     * <li><b>A break</b> takes the claim that it names out of the queue, and no other member. It signals
     *     {@link WatchSignal.LostRun} to the client of the run, whichever of its members are watched.
     * <li><b>A late end</b>, of a run that expired or was broken, takes the members that were served out of the queue. If
     *     they are members of a later run by then, it withdraws them, as their releases would. It does not end that run.
     * <li><b>An adoption</b> of a member with its token ends the run: the members before it were served, it holds the
     *     lock under its own claim, and the members behind it keep their places.
     * <li><b>A downgrade</b> of a member ends the run in the same way, see {@link LockBackend#tryAcquire}.
     * </ul>
     *
     * <p>A back end whose commits check its stored token, such as a database, must not have it: two members would pass
     * that check.
     *
     * <p>This feature and all types and methods of runs may change in a minor version. A back end without it is not
     * concerned.
     */
    RUNS
}
