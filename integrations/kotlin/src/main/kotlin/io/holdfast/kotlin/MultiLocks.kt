package io.holdfast.kotlin

import io.holdfast.MultiLease
import io.holdfast.ReactiveMultiLock
import io.holdfast.kotlin.internal.awaitEnd
import io.holdfast.kotlin.internal.awaitOwned
import io.holdfast.kotlin.internal.workUnder
import kotlinx.coroutines.CoroutineScope
import reactor.core.publisher.Mono

/**
 * Runs a block under all locks, in the same way as [io.holdfast.ReactiveLock.withLockAndAwait][withLockAndAwait] under one. The loss of one
 * lease cancels the block.
 *
 * @param block the work under all locks
 * @return the result of the block
 * @throws io.holdfast.LockLostException if a lease is lost before the release; it names the lock
 * @throws io.holdfast.LockTimeoutException when `waitTimeout` is over, and the other errors of [ReactiveMultiLock.acquire]
 * @throws Throwable the exception of the block, after the release
 */
public suspend fun <T> ReactiveMultiLock.withLockAndAwait(block: suspend CoroutineScope.(leases: MultiLease) -> T): T =
    workUnder<MultiLease, T>({ work -> withLock(work) }, block)

/**
 * Takes all locks, like [ReactiveMultiLock.acquire]. The caller must release them with [releaseAndAwait]. A cancellation withdraws the
 * claims, and releases leases that arrive at the same moment.
 *
 * @return the leases
 */
public suspend fun ReactiveMultiLock.acquireAndAwait(): MultiLease = checkNotNull(acquire().awaitLeases()) { "no leases of ${names()}" }

/**
 * Takes all locks if all are available now, like [ReactiveMultiLock.tryAcquire]. The caller must release them with [releaseAndAwait].
 *
 * @return the leases, or null if at least one lock is not available
 */
public suspend fun ReactiveMultiLock.tryAcquireAndAwait(): MultiLease? = tryAcquire().awaitLeases()

/**
 * Releases all locks, like [MultiLease.release]. It sends the releases and waits for them at most one operation timeout, even if the
 * coroutine is cancelled.
 *
 * @throws io.holdfast.LockLostException if a lease was lost before the release
 */
public suspend fun MultiLease.releaseAndAwait(): Unit = release().awaitEnd()

private suspend fun Mono<MultiLease>.awaitLeases(): MultiLease? = awaitOwned { leases -> leases.release().subscribe({}, {}) }
