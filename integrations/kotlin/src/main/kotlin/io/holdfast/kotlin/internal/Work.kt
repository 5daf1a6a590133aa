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
 * Runs the block once for each grant of what [guarded] makes, which is a `withLock` or a `lead`, and gives the result of the last one when core has
 * released the lock. Core decides about leases; this decides only when the coroutine waits.
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
            work.cancel() // withdraws the claim, or releases what came too late; without effect after the end
        }
    }

/** One subscription to core. It tells what happens on any thread, and the coroutine takes it in one after the other. */
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
                        // A leader whose own lease is lost stands again, perhaps for long.
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

    /** A release is waited for also by a coroutine that is cancelled. Core bounds it by the operation timeout. */
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
