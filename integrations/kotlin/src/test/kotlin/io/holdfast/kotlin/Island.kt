package io.holdfast.kotlin

import io.holdfast.LockClient
import io.holdfast.LockLostException
import io.holdfast.LockOptions
import io.holdfast.memory.InMemoryLockBackend
import io.holdfast.testkit.FaultyLockBackend
import kotlinx.coroutines.reactor.ReactorContext
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.test.testTimeSource
import kotlinx.coroutines.withContext
import org.assertj.core.api.Assertions.assertThat
import reactor.util.context.Context
import kotlin.time.Duration.Companion.seconds

/** A back end and a client in the virtual time of a test, with faults on demand. After the body of the test, no claim may be left. */
internal class Island(
    val test: TestScope,
) {
    val timer = test.backgroundScope.asReactorScheduler(test.testTimeSource)
    val store: InMemoryLockBackend = InMemoryLockBackend.create(timer)
    val faults: FaultyLockBackend = FaultyLockBackend.over(store, timer)
    val locks: LockClient =
        LockClient
            .builder(faults)
            .timer(timer)
            .closeBackend(false)
            .build()

    val now: Long
        get() = test.currentTime

    fun lock(name: String = "stock/42") = locks.lock(name)

    /** Checks it like a pipeline outside of any `withLock`. */
    suspend fun isHeld(name: String = "stock/42"): Boolean =
        withContext(ReactorContext(Context.empty())) {
            val lease = locks.lock(name).tryAcquireAndAwait()
            lease?.releaseAndAwait()
            lease == null
        }
}

/** Options with which the lease ends one second after the grant. */
internal val SHORT_HOLD: LockOptions =
    lockOptions {
        leaseDuration(1.seconds)
        autoRenew(false)
    }

internal fun island(body: suspend Island.() -> Unit) =
    runTest {
        val island = Island(this)
        island.body()
        assertThat(island.store.contents()).isEmpty()
        assertThat(island.locks.toString()).contains("0 acquiring, 0 held, 0 releasing")
        island.locks.closeAndAwait()
    }

/** Returns the exception itself, not a copy with another stack trace. */
internal suspend inline fun <reified E : Throwable> thrownBy(crossinline body: suspend () -> Unit): E {
    try {
        body()
    } catch (e: Throwable) {
        assertThat(e).isInstanceOf(E::class.java)
        return e as E
    }
    throw AssertionError("nothing was thrown")
}

internal suspend fun lossOf(body: suspend () -> Unit): LockLostException = thrownBy<LockLostException> { body() }

/** An exception that the debug mode of coroutines cannot copy. */
internal class Refused(
    val code: Int,
) : RuntimeException("refused: $code")
