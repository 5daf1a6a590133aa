package io.holdfast.kotlin.internal

import io.holdfast.LockLostException
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.withContext
import org.reactivestreams.Publisher
import reactor.core.publisher.BaseSubscriber
import reactor.core.publisher.Mono
import reactor.util.context.Context
import java.util.function.Function
import kotlin.coroutines.coroutineContext

/**
 * Runs the block once for each grant of [guarded], which is a `withLock` or a `lead`. Returns the result of the last block when core has
 * released the lock. Core decides about leases; this function only decides when the coroutine waits.
 */
internal suspend fun <L : Any, T> workUnder(
    guarded: (Function<L, Mono<Void>>) -> Publisher<Void>,
    block: suspend CoroutineScope.(L) -> T,
): T =
    offTheDriver {
        val work = Work<L>(reactorContext())
        guarded(Function { lease -> work.grant(lease) }).subscribe(work)
        try {
            work.run(block)
        } finally {
            work.cancel() // withdraws the claim, or releases a late lease; no effect after the end
        }
    }

/** One subscription to core. It sends signals from any thread, and the coroutine receives them one after another. */
private class Work<L : Any>(
    private val context: Context,
) : BaseSubscriber<Void>() {
    private val signals = Channel<Signal<L>>(Channel.UNLIMITED)

    fun grant(lease: L): Mono<Void> = Grant(lease, ::tell)

    override fun currentContext(): Context = context

    override fun hookOnComplete() = tell(Signal.Ended(null))

    override fun hookOnError(throwable: Throwable) = tell(Signal.Ended(throwable))

    private fun tell(signal: Signal<L>) {
        signals.trySend(signal)
    }

    suspend fun <T> run(block: suspend CoroutineScope.(L) -> T): T {
        var outcome: Result<T>? = null
        var releasing = false
        while (true) {
            when (val signal = next(releasing)) {
                is Signal.Granted -> {
                    if (!signal.grant.isRevoked) {
                        val ended = runCatching { signal.grant.work(block) }
                        outcome = ended
                        // A leader that has lost its lease stands for election again, perhaps for long.
                        releasing = !signal.grant.isRevoked && ended.exceptionOrNull() !is LockLostException
                        signal.grant.end(ended.exceptionOrNull())
                    }
                }

                is Signal.Revoked -> {
                    releasing = false
                }

                is Signal.Ended -> {
                    return result(outcome, signal.failure)
                }
            }
        }
    }

    /** Waits for a release even if the coroutine is cancelled. Core limits that to the operation timeout. */
    private suspend fun next(releasing: Boolean): Signal<L> =
        if (releasing) withContext(NonCancellable) { signals.receive() } else signals.receive()

    private suspend fun <T> result(
        outcome: Result<T>?,
        failure: Throwable?,
    ): T {
        val error = outcome?.exceptionOrNull()
        if (failure == null || failure === error) {
            return checkNotNull(outcome) { "ended without a lease" }.getOrThrow()
        }
        coroutineContext.ensureActive()
        if (error != null && error !is CancellationException) {
            failure.addSuppressed(error)
        }
        throw failure
    }
}
