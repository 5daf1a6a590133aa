package io.holdfast.kotlin.internal

import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.job
import kotlinx.coroutines.reactor.ReactorContext
import kotlinx.coroutines.withContext
import org.reactivestreams.Subscription
import reactor.core.CoreSubscriber
import reactor.core.publisher.Mono

/**
 * The work as core sees it. It begins when core subscribes, which means that the lock is held, and ends when the coroutine calls [end].
 * Core cancels it when the lease is lost.
 */
internal class Grant<L : Any>(
    private val lease: L,
    private val tell: (Signal<L>) -> Unit,
) : Mono<Void>(),
    Subscription {
    /** Completed by the cancellation. */
    private val revoked = Job()

    /** Written once, by [subscribe], before the coroutine receives this grant. */
    private lateinit var subscriber: CoreSubscriber<in Void>

    val isRevoked: Boolean
        get() = revoked.isCompleted

    override fun subscribe(actual: CoreSubscriber<in Void>) {
        subscriber = actual
        actual.onSubscribe(this)
        tell(Signal.Granted(this))
    }

    /** Does nothing, since there are no elements. */
    override fun request(n: Long) = Unit

    override fun cancel() {
        if (revoked.complete()) {
            tell(Signal.Revoked)
        }
    }

    /** Runs the block with its children, in the Reactor Context that has the lease; a revocation cancels them. */
    suspend fun <T> work(block: suspend CoroutineScope.(L) -> T): T =
        withContext(ReactorContext(subscriber.currentContext())) {
            val scope = coroutineContext.job
            revoked.invokeOnCompletion { scope.cancel(CancellationException("the lock was lost")) }
            block(lease)
        }

    /** Ends the work. Core ignores this if it has cancelled the grant meanwhile. */
    fun end(error: Throwable?) {
        when {
            isRevoked -> return
            error == null -> subscriber.onComplete()
            else -> subscriber.onError(error)
        }
    }
}

/** The signals from core to the coroutine, in their order. */
internal sealed interface Signal<out L : Any> {
    /** The lock is held. */
    class Granted<L : Any>(
        val grant: Grant<L>,
    ) : Signal<L>

    /** The lease of the last grant is lost. Another grant may follow, or the end. */
    data object Revoked : Signal<Nothing>

    /** The last signal. The lock is released, or was never held. */
    class Ended(
        val failure: Throwable?,
    ) : Signal<Nothing>
}
