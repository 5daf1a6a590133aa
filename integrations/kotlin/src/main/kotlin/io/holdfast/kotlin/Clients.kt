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
 * Stands for election, like [LeaderElection.lead], and runs the term whenever this candidate is elected.
 *
 * When the lease is lost, the term is cancelled with its children, and the candidate stands again. In this coroutine the next term does not
 * begin before the last one has ended; another candidate may lead by then. When the term returns or throws, the candidate resigns: the lock
 * is released, and then this function returns or throws the same. Cancellation, children, threads and the Reactor Context are as in
 * [io.holdfast.ReactiveLock.withLockAndAwait][withLockAndAwait].
 *
 * @param term the work of the leader; called for each term
 * @return the result of the term that has ended by itself
 * @throws Throwable the exception of the term, and the errors of [LeaderElection.lead]
 */
public suspend fun <T> LeaderElection.leadAndAwait(term: suspend CoroutineScope.(lease: LockLease) -> T): T =
    workUnder<LockLease, T>({ work -> lead(work) }, term)

/**
 * Returns the present leader, like [LeaderElection.leader].
 *
 * @return the holder of the lock, or null if there is none
 */
public suspend fun LeaderElection.leaderAndAwait(): LockHolder? = leader().awaitOwned {}

/**
 * Adopts a lease that another process has exported, like [LockClient.adopt]. A cancellation releases the lock.
 *
 * @param exported the text of the export
 * @return the lease, which the caller must release
 */
public suspend fun LockClient.adoptAndAwait(exported: String): LockLease = checkNotNull(adopt(exported).awaitLease()) { "no lease" }

/**
 * Requests a sign of life from the back end, like [LockClient.ping].
 *
 * @throws io.holdfast.LockBackendException if there was no answer
 */
public suspend fun LockClient.pingAndAwait() {
    ping().awaitOwned {}
}

/**
 * Stops to give locks and lets the holders finish, like [LockClient.drain], and waits until the last lease has ended. It begins at once;
 * a cancellation ends only the wait.
 */
public suspend fun LockClient.drainAndAwait() {
    drain().awaitOwned {}
}

/** Ends all that this client has started, like [LockClient.close], and waits for the end, even if the coroutine is cancelled. */
public suspend fun LockClient.closeAndAwait(): Unit = close().awaitEnd()
