package io.holdfast.kotlin

import io.holdfast.LockLease
import io.holdfast.LockLostException
import io.holdfast.ReactiveLock
import io.holdfast.kotlin.internal.awaitEnd
import io.holdfast.kotlin.internal.awaitLease
import io.holdfast.kotlin.internal.awaitOwned
import io.holdfast.kotlin.internal.workUnder
import kotlinx.coroutines.CoroutineScope

/**
 * Runs a block under the lock: acquires the lock, runs the block, releases the lock, and then returns the result of the block.
 *
 * ```
 * val left = locks.lock("stock/$item").withLockAndAwait { lease -> stock.sell(item, lease.fencingToken()) }
 * ```
 *
 * **Cancellation.** While the coroutine waits for the lock, its cancellation withdraws the claim. While the block runs, its cancellation
 * cancels the block, waits for the block and its children, and then releases the lock. The release is never cancelled: the coroutine waits
 * for it at most one operation timeout of the client. After that, the release continues in the background.
 *
 * **Loss.** When the lease is lost, the block is cancelled with its children. When they have ended, this function throws
 * [LockLostException]. The coroutine of the caller is not cancelled. Work that does not suspend is not interrupted. If it could do harm,
 * send the fencing token with it.
 *
 * **Children.** Coroutines that the block starts in its scope end before the release.
 *
 * **Threads.** The block runs on the dispatcher of the caller. Without a dispatcher, or with `Dispatchers.Unconfined`, as in a controller
 * of WebFlux, it runs on `Dispatchers.Default`. It never runs on a thread of the driver. The other elements of the coroutine context are
 * those of the caller.
 *
 * **Re-entrancy.** The block has the lease in its Reactor Context, so an acquisition of the same lock in the block returns a nested view of
 * the lease. The same is true in a pipeline that the block awaits.
 *
 * @param block the work under the lock
 * @return the result of the block
 * @throws LockLostException if the lease is lost before the release; an exception of the block is suppressed in it
 * @throws io.holdfast.LockTimeoutException when `waitTimeout` is over, and the other errors of [ReactiveLock.acquire]
 * @throws Throwable the exception of the block, after the release; a failure of the release is suppressed in it
 */
public suspend fun <T> ReactiveLock.withLockAndAwait(block: suspend CoroutineScope.(lease: LockLease) -> T): T =
    workUnder<LockLease, T>({ work -> withLock(work) }, block)

/**
 * Takes the lock and waits for it, like [ReactiveLock.acquire]. The caller must release it with [releaseAndAwait]; prefer
 * [withLockAndAwait].
 *
 * A cancellation withdraws the claim. If the lease arrives at the moment of the cancellation, it is released in the background.
 *
 * @return the lease
 * @throws io.holdfast.LockTimeoutException when `waitTimeout` is over, and the other errors of [ReactiveLock.acquire]
 */
public suspend fun ReactiveLock.acquireAndAwait(): LockLease = checkNotNull(acquire().awaitLease()) { "no lease of '${name()}'" }

/**
 * Takes the lock if it is available now, like [ReactiveLock.tryAcquire]. The caller must release it with [releaseAndAwait]. Cancellation
 * works as in [acquireAndAwait].
 *
 * @return the lease, or null if the lock is not available
 */
public suspend fun ReactiveLock.tryAcquireAndAwait(): LockLease? = tryAcquire().awaitLease()

/**
 * Returns the lease of the enclosing [withLockAndAwait] of this lock. No I/O.
 *
 * @return as [ReactiveLock.current], or null
 */
public suspend fun ReactiveLock.currentAndAwait(): LockLease? = current().awaitOwned {}

/**
 * Releases the lock, like [LockLease.release]. It sends the release and waits for it at most one operation timeout, even if the coroutine
 * is cancelled.
 *
 * @throws LockLostException if the lease was lost before the release
 */
public suspend fun LockLease.releaseAndAwait(): Unit = release().awaitEnd()

/**
 * Extends the lease now, like [LockLease.renew].
 *
 * @throws LockLostException if the lease is lost or released
 * @throws io.holdfast.LockBackendException if the outcome is unknown
 */
public suspend fun LockLease.renewAndAwait() {
    renew().awaitOwned {}
}

/**
 * Turns a write lease into a read lease, like [LockLease.downgrade].
 *
 * @return the read lease, which the caller must release. After a cancellation the lock is released
 */
public suspend fun LockLease.downgradeAndAwait(): LockLease = checkNotNull(downgrade().awaitLease()) { "no lease of '${lockName()}'" }

/**
 * Exports the lease for another process, like [LockLease.export].
 *
 * @return the text of the export. After a cancellation the lock is released, or it ends with its lease
 */
public suspend fun LockLease.exportAndAwait(): String = checkNotNull(export().awaitOwned {}) { "no text for '${lockName()}'" }
