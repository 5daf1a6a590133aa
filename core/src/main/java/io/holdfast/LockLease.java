package io.holdfast;

import java.time.Duration;
import reactor.core.publisher.Mono;

/**
 * A lease: the lock, held for a limited time, with a fencing token.
 *
 * <p><b>What a lease promises.</b> While {@link #isValid()} is true, no other claim holds the lock, as long as the
 * assumptions of the back end hold (see its class). No lock can promise that your <em>work</em> is exclusive: the JVM
 * can pause between the check and the write, for longer than any lease. If a write by a former holder would do harm,
 * protect the data with the {@link #fencingToken()}. Before you read data that you will modify, store your token beside
 * it, unless a higher one is there. Then write only where exactly your token is stored:
 *
 * <pre>{@code
 * update stock set token = :token where item = :item and token <= :token -- then select amount
 * update stock set amount = :amount where item = :item and token = :token
 * }</pre>
 *
 * <p>Each statement changes no row if a later holder has stored its token: your code must treat that as a refusal. To
 * compare tokens in the write alone is not enough: a former holder could write between the read and the write of the
 * next holder, and that holder would then overwrite its change.
 *
 * <p><b>Its life.</b> The client renews a lease in the background (unless {@link LockOptions#autoRenew()} is off) until
 * it is released or lost. A lease is lost when the back end reports so, or at the local deadline when no renewal was
 * confirmed in time. From that instant {@link #isValid()} is false. {@link #onLoss()} signals when the client's timer
 * runs. A lease belongs to no thread: any thread may use or release it. If your code drops a lease without releasing
 * it, the client notices when the lease is garbage collected, and releases it at the next renewal tick. Do not rely on
 * that: use {@link ReactiveLock#withLock}.
 *
 * <p>Signals arrive as {@link ReactiveLock} says. Thread-safe. Users do not implement this interface.
 */
public interface LockLease {

    /** {@return the name of the lock, as given to the client} */
    String lockName();

    /**
     * Returns the fencing token: a number that is greater than that of every earlier owner of this lock.
     *
     * @return greater than 0; comparable within one lock name of one back end only; the same for the life of the lease.
     *     The class of the back end says what the server must keep for tokens to rise
     */
    long fencingToken();

    /**
     * {@return how long the lease is surely valid without another renewal} Measured on the local monotonic clock, less
     * the safety margin (1 % of the lease and 2 ms); {@link Duration#ZERO} when the lease has ended.
     */
    Duration remaining();

    /**
     * {@return whether the lock is held: not released, not lost, and before the local deadline} Exact at the instant of
     * the call, even if the timer has not run yet, as long as the monotonic clock runs. It may stop with a machine that
     * is suspended.
     */
    boolean isValid();

    /**
     * Signals the loss of the lease.
     *
     * @return hot, replays; one value on loss; completes empty after a release. A nested lease is lost, with
     *     {@link LossReason#NOT_HELD}, when the release of the outermost lease is requested before its own. Signals on
     *     the client's {@code deliverOn} scheduler, or else on the thread that detected the loss. Cancelling it has no
     *     effect on the lease. While a subscription exists, the client does not treat the lease as abandoned
     */
    Mono<LossReason> onLoss();

    /**
     * Renews the lease now, for as long as the back end keeps a lease of this duration. The automatic renewals go on. Cold: each subscription sends one
     * request; cancelling it has no effect on the lease.
     *
     * @return completes when the back end has confirmed; fails with {@link LockLostException} when the lease is lost or
     *     released, with {@link LockBackendException} when the outcome is unknown (the lease stays until its local
     *     deadline)
     */
    Mono<Void> renew();

    /**
     * Hands the lease on to another process: ends it here without a release, and emits a text. {@link LockClient#adopt}
     * continues the lease with that text. Until then the lock stays held under the same token, but not longer than the
     * lease lasts on the server: adopt it before it ends.
     *
     * <p>Lazy, and once: the first subscription that requests the text stops the renewals, waits for the renewal in
     * flight, and ends the lease. From then on {@link #isValid()} is false, and {@link #onLoss()} completes empty. Each
     * later subscription fails. A back end may grant a waiter a short lease at first. The client renews such a lease
     * once before it hands it on. Inside {@code withLock} the work goes on without the lock, and its end releases
     * nothing.
     *
     * <p>The text is a capability: with it, a process can take the lock over and release it. Keep it secret, and out of
     * logs. It is no signature: a reader of the claim id and the token, such as a user of an inspector, can make one.
     * Adopt only a text of a sender that you trust. It contains only letters, digits, {@code -}, {@code _} and dots, so it fits into a header or a message.
     *
     * <p>If you cancel before the text is emitted, the lock is released. A later cancellation does not release it, since
     * the text may be in use. If no process adopts it, the lock is free when its lease ends. An operator such as
     * {@code timeout} may drop the text at the moment of the emission; then the same holds. {@code withLock} emits the
     * result of its work when its own lease has ended here. If you cancel before that, it drops the text. If the export
     * fails, the lock is released.
     *
     * @return the text. Fails with {@link LockLostException} when the lease had ended or was
     *     handed on already; with {@link IllegalStateException} for a nested lease; and with
     *     {@link UnsupportedOperationException} on a back end without {@link io.holdfast.spi.LockFeature#HAND_ON},
     *     where nothing changes
     */
    Mono<String> export();

    /**
     * Downgrades a writer to a reader: ends this lease of a write lock, and emits a lease of its read lock. No other
     * writer holds the lock in between. The readers at the head of the queue join; a waiting writer keeps its place.
     * The read lease has the same token. {@code minHoldTime} and {@code maxHoldTime} count from the grant of the write
     * lock. A {@link LockListener} gets one end for the whole hold.
     *
     * <p>Cold, and once: the first subscription stops the renewals and waits for the renewal in flight. Then it sends
     * the request to the back end, and repeats it until the back end answers or this lease ends. From the subscription
     * on {@link #isValid()} is false, since other readers may hold the lock. {@link #onLoss()} completes empty when the
     * read lease is emitted. Each later subscription fails.
     *
     * @return the read lease, never empty; the caller releases it. If you cancel before it is emitted, the lock is
     *     released. Fails with {@link LockLostException} when this lease had ended, ends before the back end answers,
     *     or was downgraded or handed on before; then the lock is released. Fails without any change with
     *     {@link IllegalStateException} for the lease of another kind of lock, for a nested lease, for a lease that
     *     {@code withLock} releases, and for a part of a {@link MultiLease}. Fails without any change with
     *     {@link UnsupportedOperationException} on a back end without {@link io.holdfast.spi.LockFeature#DOWNGRADE}
     */
    Mono<LockLease> downgrade();

    /**
     * Releases the lock. Lazy: the client sends nothing before the first subscription; idempotent: all subscriptions
     * share one release and its result. Renewals stop at the first subscription. Cancelling a subscription does not
     * cancel the release.
     *
     * @return completes when the back end has confirmed, at the latest after one operation timeout. Then the release
     *     goes on in the background until the local deadline, and after that the server frees the lock by itself. Fails
     *     with {@link LockLostException} when the lease was lost before; the release may be the first request to detect
     *     that. The release of a nested lease sends nothing and completes at once. After {@link #export()} or
     *     {@link #downgrade()} it does nothing and completes: the lock is not this lease's any more. If the lease was
     *     exported, the process that adopts it releases the lock
     */
    Mono<Void> release();
}
