package io.holdfast.kotlin

import io.holdfast.LeaderElection
import io.holdfast.LockClient
import io.holdfast.LockHolder
import io.holdfast.LockLease
import io.holdfast.kotlin.internal.awaitEnd
import io.holdfast.kotlin.internal.awaitLease
import io.holdfast.kotlin.internal.awaitOwned
import io.holdfast.kotlin.internal.workUnder
import kotlinx.coroutines.CoroutineScope

/**
 * Stands for election, as [LeaderElection.lead] does, and runs the term whenever this candidate is elected.
 *
 * When the lease is lost, the term is cancelled with its children, and the candidate stands again. In this coroutine the next term does not begin before
 * the last one has ended; another candidate may lead by then. When the term returns or throws, the candidate resigns: the lock is released, and then
 * this function returns or throws the same. Cancellation, children, threads and the Reactor Context are those of
 * [io.holdfast.ReactiveLock.withLockAndAwait][withLockAndAwait].
 *
 * @param term what a leader does; called for each term
 * @return what the term gives that has ended by itself
 * @throws Throwable what the term throws, and the errors of [LeaderElection.lead]
 */
public suspend fun <T> LeaderElection.leadAndAwait(term: suspend CoroutineScope.(lease: LockLease) -> T): T =
    workUnder<LockLease, T>({ work -> lead(work) }, term)

/**
 * Tells who leads, as [LeaderElection.leader] does.
 *
 * @return the holder of the lock, or null when there is none
 */
public suspend fun LeaderElection.leaderAndAwait(): LockHolder? = leader().awaitOwned {}

/**
 * Goes on with a lease that another process has handed on, as [LockClient.adopt] does. A cancellation gives the lock back.
 *
 * @param exported the text
 * @return the lease, to be released by the caller
 */
public suspend fun LockClient.adoptAndAwait(exported: String): LockLease = checkNotNull(adopt(exported).awaitLease()) { "no lease" }

/**
 * Asks the back end for a sign of life, as [LockClient.ping] does.
 *
 * @throws io.holdfast.LockBackendException if there was none
 */
public suspend fun LockClient.pingAndAwait() {
    ping().awaitOwned {}
}

/** Ends all that this client started, as [LockClient.close] does, and waits for the end, also when the coroutine is cancelled. */
public suspend fun LockClient.closeAndAwait(): Unit = close().awaitEnd()
