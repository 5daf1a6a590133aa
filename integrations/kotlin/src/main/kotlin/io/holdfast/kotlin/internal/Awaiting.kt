package io.holdfast.kotlin.internal

import io.holdfast.LockLease
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.reactor.ReactorContext
import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.coroutines.withContext
import reactor.core.publisher.BaseSubscriber
import reactor.core.publisher.Mono
import reactor.util.context.Context
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.coroutineContext
import kotlin.coroutines.resume
import kotlin.coroutines.resumeWithException

/** Returns the Reactor Context of the enclosing pipeline, or of the enclosing `withLock`. */
internal suspend fun reactorContext(): Context = coroutineContext[ReactorContext]?.context ?: Context.empty()

/**
 * Runs the block away from the driver's threads. A coroutine without a dispatcher would continue on the thread of the signal, which belongs
 * to the driver and must not be delayed.
 */
internal suspend fun <T> offTheDriver(block: suspend () -> T): T =
    if (coroutineContext.hasNoDispatcher()) withContext(Dispatchers.Default) { block() } else block()

internal fun CoroutineContext.hasNoDispatcher(): Boolean {
    val dispatcher = this[ContinuationInterceptor]
    return dispatcher == null || dispatcher === Dispatchers.Unconfined
}

/** Waits for the end of a Mono without a result. It is subscribed and awaited even if the coroutine is cancelled. */
internal suspend fun Mono<Void>.awaitEnd() {
    withContext(NonCancellable) { awaitOwned {} }
}

/**
 * Waits for the element; null if there is none. A cancellation cancels the subscription. If an element arrives at the same moment, no
 * caller gets it, so `giveBack` is called with it.
 */
internal suspend fun <T : Any> Mono<T>.awaitOwned(giveBack: (T) -> Unit): T? {
    val context = reactorContext()
    val detour = coroutineContext.hasNoDispatcher()
    return suspendCancellableCoroutine { continuation ->
        subscribe(Awaiting(continuation, context, detour, giveBack))
    }
}

/** Waits for a lease that the caller must release. */
internal suspend fun Mono<LockLease>.awaitLease(): LockLease? = awaitOwned { lease -> lease.release().subscribe({}, {}) }

private class Awaiting<T : Any>(
    private val continuation: CancellableContinuation<T?>,
    private val context: Context,
    private val detour: Boolean,
    private val giveBack: (T) -> Unit,
) : BaseSubscriber<T>() {
    /** Written by the thread of the signals. */
    private var done = false

    init {
        continuation.invokeOnCancellation { cancel() }
    }

    override fun currentContext(): Context = context

    override fun hookOnNext(value: T) {
        done = true
        goOn { continuation.resume(value) { _, unwanted, _ -> unwanted?.let(giveBack) } }
    }

    override fun hookOnComplete() {
        if (!done) {
            goOn { continuation.resume(null) }
        }
    }

    override fun hookOnError(throwable: Throwable) {
        goOn { continuation.resumeWithException(throwable) }
    }

    private fun goOn(resume: () -> Unit) {
        if (detour) Dispatchers.Default.dispatch(EmptyCoroutineContext, Runnable(resume)) else resume()
    }
}
