package io.holdfast.kotlin

import io.holdfast.MultiLease
import io.holdfast.ReactiveMultiLock
import io.holdfast.kotlin.internal.awaitEnd
import io.holdfast.kotlin.internal.awaitOwned
import io.holdfast.kotlin.internal.workUnder
import kotlinx.coroutines.CoroutineScope
import reactor.core.publisher.Mono

/**
 * Runs a block under all locks, as [io.holdfast.ReactiveLock.withLockAndAwait][withLockAndAwait] does under one. The loss of one lease cancels the block.
 *
 * @param block what to do with all locks held
 * @return what the block gives
 * @throws io.holdfast.LockLostException if a lease is lost before the release; it names the lock
 * @throws io.holdfast.LockTimeoutException if the wait is over, and the other errors of [ReactiveMultiLock.acquire]
 * @throws Throwable what the block throws, after the release
 */
public suspend fun <T> ReactiveMultiLock.withLockAndAwait(block: suspend CoroutineScope.(leases: MultiLease) -> T): T =
    workUnder<MultiLease, T>({ work -> withLock(work) }, block)

/**
 * Takes all locks, as [ReactiveMultiLock.acquire] does. The caller releases them by [releaseAndAwait]. A cancellation withdraws the claims, and releases
 * what came at the moment of the cancellation.
 *
 * @return the leases
 */
public suspend fun ReactiveMultiLock.acquireAndAwait(): MultiLease = checkNotNull(acquire().awaitLeases()) { "no leases of ${names()}" }

/**
 * Takes all locks if all are available now, as [ReactiveMultiLock.tryAcquire] does. The caller releases them by [releaseAndAwait].
 *
 * @return the leases, or null when one lock at least is not available
 */
public suspend fun ReactiveMultiLock.tryAcquireAndAwait(): MultiLease? = tryAcquire().awaitLeases()

/**
 * Gives all locks back, as [MultiLease.release] does. Sent, and waited for at most one operation timeout, also when the coroutine is cancelled.
 *
 * @throws io.holdfast.LockLostException if a lease was lost before
 */
public suspend fun MultiLease.releaseAndAwait(): Unit = release().awaitEnd()

private suspend fun Mono<MultiLease>.awaitLeases(): MultiLease? = awaitOwned { leases -> leases.release().subscribe({}, {}) }
