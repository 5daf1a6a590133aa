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

/** What the enclosing pipeline, or the enclosing `withLock`, has put there. */
internal suspend fun reactorContext(): Context = coroutineContext[ReactorContext]?.context ?: Context.empty()

/** Without a dispatcher of its own, a coroutine goes on where the signal comes: on a thread of the driver, which must not be held up. */
internal suspend fun <T> offTheDriver(block: suspend () -> T): T =
    if (coroutineContext.hasNoDispatcher()) withContext(Dispatchers.Default) { block() } else block()

internal fun CoroutineContext.hasNoDispatcher(): Boolean {
    val dispatcher = this[ContinuationInterceptor]
    return dispatcher == null || dispatcher === Dispatchers.Unconfined
}

/** For what has no result to lose. Sent and waited for also when the coroutine is cancelled. */
internal suspend fun Mono<Void>.awaitEnd() {
    withContext(NonCancellable) { awaitOwned {} }
}

/**
 * Waits for the element, or null if there is none. A cancellation cancels the subscription; an element that came at the same moment, so that no
 * caller gets it, is given back.
 */
internal suspend fun <T : Any> Mono<T>.awaitOwned(giveBack: (T) -> Unit): T? {
    val context = reactorContext()
    val detour = coroutineContext.hasNoDispatcher()
    return suspendCancellableCoroutine { continuation ->
        subscribe(Awaiting(continuation, context, detour, giveBack))
    }
}

/** For what the caller releases. */
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
