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
 * Runs a block under the lock: acquires, runs the block, releases, and then gives the result of the block.
 *
 * ```
 * val left = locks.lock("stock/$item").withLockAndAwait { lease -> stock.sell(item, lease.fencingToken()) }
 * ```
 *
 * **Cancellation.** While the coroutine waits for the lock, its cancellation withdraws the claim. Once the block runs, its cancellation cancels the
 * block, waits for the block and its children, and then releases. Nothing cancels the release: the coroutine waits for it, at most one operation
 * timeout of the client, and then it goes on in the background.
 *
 * **Loss.** When the lease is lost, the block is cancelled with its children, and when they have ended this function throws [LockLostException]. The
 * coroutine of the caller is not cancelled. Work that does not suspend is not interrupted; if it would do harm, send the fencing token with it.
 *
 * **Children.** Coroutines that the block starts in its scope end before the release.
 *
 * **Threads.** The block runs on the dispatcher of the caller. Without one, and on `Dispatchers.Unconfined`, as in a controller of WebFlux, it runs on
 * `Dispatchers.Default`: never on a thread of the driver. Other elements of the coroutine context are those of the caller.
 *
 * **Re-entrancy.** The block has the lease in its Reactor Context, so an acquisition of the same lock inside, here or in a pipeline that the block
 * awaits, gives a nested view of the lease.
 *
 * @param block what to do with the lock held
 * @return what the block gives
 * @throws LockLostException if the lease is lost before the release; what the block threw then is suppressed in it
 * @throws io.holdfast.LockTimeoutException if the wait is over, and the other errors of [ReactiveLock.acquire]
 * @throws Throwable what the block throws, after the release; a failure of the release is suppressed in it
 */
public suspend fun <T> ReactiveLock.withLockAndAwait(block: suspend CoroutineScope.(lease: LockLease) -> T): T =
    workUnder<LockLease, T>({ work -> withLock(work) }, block)

/**
 * Takes the lock, waiting for it as [ReactiveLock.acquire] does. The caller releases it by [releaseAndAwait]; prefer [withLockAndAwait].
 *
 * A cancellation withdraws the claim. A lease that came at the moment of the cancellation is released in the background.
 *
 * @return the lease
 * @throws io.holdfast.LockTimeoutException if the wait is over, and the other errors of [ReactiveLock.acquire]
 */
public suspend fun ReactiveLock.acquireAndAwait(): LockLease = checkNotNull(acquire().awaitLease()) { "no lease of '${name()}'" }

/**
 * Takes the lock if it is available now, as [ReactiveLock.tryAcquire] does. The caller releases it by [releaseAndAwait]. Cancellation is that of
 * [acquireAndAwait].
 *
 * @return the lease, or null when the lock is not available
 */
public suspend fun ReactiveLock.tryAcquireAndAwait(): LockLease? = tryAcquire().awaitLease()

/**
 * The lease that the enclosing [withLockAndAwait] of this lock holds. No I/O.
 *
 * @return as [ReactiveLock.current], or null
 */
public suspend fun ReactiveLock.currentAndAwait(): LockLease? = current().awaitOwned {}

/**
 * Gives the lock back, as [LockLease.release] does. Sent, and waited for at most one operation timeout, also when the coroutine is cancelled.
 *
 * @throws LockLostException if the lease was lost before
 */
public suspend fun LockLease.releaseAndAwait(): Unit = release().awaitEnd()

/**
 * Extends the lease now, as [LockLease.renew] does.
 *
 * @throws LockLostException if the lease is lost or released
 * @throws io.holdfast.LockBackendException if the outcome is unknown
 */
public suspend fun LockLease.renewAndAwait() {
    renew().awaitOwned {}
}

/**
 * Goes on as a reader, as [LockLease.downgrade] does.
 *
 * @return the read lease, to be released by the caller. After a cancellation the lock is released
 */
public suspend fun LockLease.downgradeAndAwait(): LockLease = checkNotNull(downgrade().awaitLease()) { "no lease of '${lockName()}'" }

/**
 * Hands the lease on, as [LockLease.export] does.
 *
 * @return the text. After a cancellation the lock is released, or it ends with its lease
 */
public suspend fun LockLease.exportAndAwait(): String = checkNotNull(export().awaitOwned {}) { "no text for '${lockName()}'" }
