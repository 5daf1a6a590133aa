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
 * The work that core sees: it begins when core subscribes, which is when the lock is held, and it ends when the coroutine says so. In between,
 * core cancels it when the lease is lost.
 */
internal class Grant<L : Any>(
    private val lease: L,
    private val tell: (Signal<L>) -> Unit,
) : Mono<Void>(),
    Subscription {
    /** Completed by the cancellation. */
    private val revoked = Job()

    /** Written once, by [subscribe], before the coroutine is told of this grant. */
    private lateinit var subscriber: CoreSubscriber<in Void>

    val isRevoked: Boolean
        get() = revoked.isCompleted

    override fun subscribe(actual: CoreSubscriber<in Void>) {
        subscriber = actual
        actual.onSubscribe(this)
        tell(Signal.Granted(this))
    }

    /** There are no elements. */
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

    /** Ignored by core if it has cancelled this grant meanwhile. */
    fun end(error: Throwable?) {
        when {
            isRevoked -> return
            error == null -> subscriber.onComplete()
            else -> subscriber.onError(error)
        }
    }
}

/** What core tells the coroutine, in the order in which it happened. */
internal sealed interface Signal<out L : Any> {
    /** The lock is held. */
    class Granted<L : Any>(
        val grant: Grant<L>,
    ) : Signal<L>

    /** The lease of the last grant is lost. Another grant may follow, or the end. */
    data object Revoked : Signal<Nothing>

    /** Nothing follows. The lock is released, or was never held. */
    class Ended(
        val failure: Throwable?,
    ) : Signal<Nothing>
}
