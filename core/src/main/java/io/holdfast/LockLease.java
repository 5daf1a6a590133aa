package io.holdfast;

import java.time.Duration;
import reactor.core.publisher.Mono;

/**
 * What you hold: the lock, for a while.
 *
 * <p><b>What a lease promises.</b> While {@link #isValid()} is true nobody else holds the lock, as long as the assumptions of the
 * back end hold (see its class). No lock can promise that your <em>work</em> is exclusive: the JVM may be paused between the
 * check and the write, for longer than any lease. So where a write by a former holder would do harm, the read leaves the
 * {@link #fencingToken()}, unless a higher one is there, and the write asks for exactly its own:
 *
 * <pre>{@code
 * update stock set token = :token where item = :item and token <= :token -- then select amount
 * update stock set amount = :amount where item = :item and token = :token
 * }</pre>
 *
 * <p>Each refuses when it changes no row. To compare tokens in the write alone is not enough: a former holder could still write between the
 * next one's read and its write, which would undo that.
 *
 * <p><b>Its life.</b> A lease is renewed in the background (unless {@link LockOptions#autoRenew()} is off) until it is released or
 * lost. Loss is decided by the store, or by the local deadline when no renewal was confirmed in time; from that instant
 * {@link #isValid()} is false, and {@link #onLoss()} signals when the client's timer runs. A lease belongs to no thread: any may
 * use or release it. A lease that is dropped without being released is found by the garbage collector and released at the
 * renewal tick after that; rely on {@link ReactiveLock#withLock} instead.
 *
 * <p>Thread-safe. Not for users to implement.
 */
public interface LockLease {

    /**
     * The lock's name.
     *
     * @return as given to the client
     */
    String lockName();

    /**
     * A number that is greater than that of every earlier owner of this lock.
     *
     * @return greater than 0; comparable within one lock name of one back end only; the same for the life of the lease. What it
     *     needs from the store to keep rising is said by the back end.
     */
    long fencingToken();

    /**
     * How long the lease is surely valid without another renewal.
     *
     * @return on the local monotonic clock, with the safety margin (1 % of the lease and 2 ms) taken off;
     *     {@link Duration#ZERO} when over
     */
    Duration remaining();

    /**
     * Whether the lock is held at this instant: not released, not lost, and the local deadline is not reached.
     *
     * @return exact at the instant of the call, also when the timer has not yet run
     */
    boolean isValid();

    /**
     * Tells when the lease is lost.
     *
     * @return hot, replays; one value on loss; completes empty after a release. A nested lease is lost, with
     *     {@link LossReason#NOT_HELD}, when the release of the outermost one is asked for before its own. Signals on the client's
     *     {@code deliverOn} scheduler, else on the thread that found out. Cancelling it has no effect on the lease. A
     *     subscription keeps the lease from being seen as abandoned.
     */
    Mono<LossReason> onLoss();

    /**
     * Extends the lease now, by its full duration, and keeps the automatic renewals going. Cold: each subscription sends one
     * request; cancelling it has no effect on the lease.
     *
     * @return completes when the store confirmed; fails with {@link LockLostException} when the lease is lost or released,
     *     with {@link LockBackendException} when the outcome is unknown (the lease stays until its local deadline)
     */
    Mono<Void> renew();

    /**
     * Hands the lease on: ends it here, without a release, and gives a text by which {@link LockClient#adopt} goes on with it in another
     * process. The lock stays held in between, under the same token, until the lease ends in the store: adopt it before that.
     *
     * <p>Lazy, and once: the first subscription that asks for the text stops the renewals, waits for the one in flight, and ends the lease; {@link #isValid()} is
     * false from then on, and {@link #onLoss()} completes empty. Each later one fails. A lease that the store has granted for a short time only, as it does when a
     * waiter's turn comes, is renewed once more before. Inside {@code withLock} the work goes on, without the lock; its end releases nothing.
     *
     * <p>The text is a capability: its reader can take the lock over and release it. Keep it secret, and out of logs. It has letters, digits, {@code -},
     * {@code _} and dots only, so it fits into a header or a message.
     *
     * @return the text. Cancelled before it came, the lock is released; after that, it ends with its lease if the text is never used. Fails with
     *     {@link LockLostException} when the lease has ended before, or was handed on before; with {@link IllegalStateException} for a nested lease; and with
     *     {@link UnsupportedOperationException} on a back end without {@link io.holdfast.spi.LockFeature#HAND_ON}, where nothing changes
     */
    Mono<String> export();

    /**
     * Goes on as a reader: ends this lease of a write lock, and gives a lease of its read lock. No other writer holds the lock in between. The readers
     * that wait at the head of the queue join; a writer that waits keeps its place. The read lease has the same token, {@code minHoldTime} and {@code
     * maxHoldTime} count from the beginning, and the hold has one end for a {@link LockListener}.
     *
     * <p>Cold, and once: the first subscription stops the renewals, waits for the one in flight, and then asks the store, again and again until it answers
     * or this lease is over. {@link #isValid()} is false from the subscription on, since other readers may be in; {@link #onLoss()} completes
     * empty when the read lease is there. Each later subscription fails.
     *
     * @return the read lease, never empty, to be released by the caller. Cancelled before it came, the lock is released. Fails with
     *     {@link LockLostException} when this lease has ended before, or ended before the store answered, or was given up before; then the lock is
     *     released. Fails where nothing changes with {@link IllegalStateException} for the lease of another kind of lock, for a nested lease, and
     *     for one that is released by {@code withLock} or is a part of a {@link MultiLease}; with {@link UnsupportedOperationException}
     *     on a back end without {@link io.holdfast.spi.LockFeature#DOWNGRADE}
     */
    Mono<LockLease> downgrade();

    /**
     * Gives the lock back. Lazy: nothing is sent before the first subscription; idempotent: all subscriptions share one release
     * and its result. Renewals stop at that instant. Cancelling a subscription does not cancel the release.
     *
     * @return completes when the store confirmed, at the latest after one operation timeout: then the release goes on in the
     *     background until the local deadline, after which the store frees the lock by itself. Fails with
     *     {@link LockLostException} when the lease was lost before, which the release may be the first to find out. The release of
     *     a nested lease asks the store for nothing and completes at once.
     */
    Mono<Void> release();
}
