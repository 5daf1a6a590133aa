package io.holdfast.kotlin

import io.holdfast.LockClient
import io.holdfast.memory.InMemoryLockBackend
import io.holdfast.testkit.ExclusionProbe
import io.holdfast.testkit.Fault
import io.holdfast.testkit.FaultyLockBackend
import io.holdfast.testkit.FaultyLockBackend.Operation
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource
import reactor.test.scheduler.VirtualTimeScheduler
import java.time.Duration
import java.util.concurrent.ThreadLocalRandom
import java.util.concurrent.atomic.AtomicInteger
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration.Companion.microseconds
import kotlin.time.Duration.Companion.milliseconds

/** A coroutine that is cancelled at any instant leaves neither a lease nor a place in a queue. */
class NoLeakTest {
    enum class Use(
        val work: suspend (LockClient) -> Unit,
    ) {
        WITH_LOCK({ locks -> locks.lock("a").withLockAndAwait { yield() } }),
        NESTED({ locks ->
            locks.lock("a").withLockAndAwait {
                locks.lock("a").withLockAndAwait { locks.lock("b").withLockAndAwait { yield() } }
            }
        }),
        CHILDREN({ locks -> locks.lock("a").withLockAndAwait { repeat(3) { launch { yield() } } } }),
        MANY({ locks -> locks.all(locks.lock("a"), locks.lock("b")).withLockAndAwait { yield() } }),
        LEAD({ locks -> locks.election("a").leadAndAwait { yield() } }),
        ACQUIRE({ locks ->
            val lease = locks.lock("a").acquireAndAwait()
            try {
                yield()
            } finally {
                lease.releaseAndAwait()
            }
        }),
        TRY_ACQUIRE({ locks -> locks.lock("free").tryAcquireAndAwait()?.releaseAndAwait() }),
        ACQUIRE_MANY({ locks -> locks.all(locks.lock("a"), locks.lock("b")).acquireAndAwait().releaseAndAwait() }),
        ADOPT({ locks ->
            val lease = locks.lock("a").acquireAndAwait()
            val text =
                try {
                    lease.exportAndAwait()
                } catch (e: Throwable) {
                    lease.releaseAndAwait()
                    throw e
                }
            locks.adoptAndAwait(text).releaseAndAwait()
        }),
    }

    /** Runs one thing at a time: a task of the coroutine, or else the next millisecond of the back end. */
    private class World(
        work: suspend (LockClient) -> Unit,
    ) : CoroutineDispatcher() {
        private val tasks = ArrayDeque<Runnable>()
        private val clock = VirtualTimeScheduler.create()
        private val store = InMemoryLockBackend.create(clock)
        private val slow = FaultyLockBackend.over(store, clock)
        private val locks =
            LockClient
                .builder(slow)
                .timer(clock)
                .closeBackend(false)
                .build()
        private val scope = CoroutineScope(this + SupervisorJob())

        init {
            val rival = checkNotNull(locks.lock("a").acquire().block())
            Operation.entries.forEach { slow.on(it).always(Fault.delayedRequest(TWO_MS)) }
            clock.schedule({ rival.release().subscribe() }, 7, java.util.concurrent.TimeUnit.MILLISECONDS)
        }

        val job = scope.launch { work(locks) }

        override fun dispatch(
            context: CoroutineContext,
            block: Runnable,
        ) = tasks.addLast(block)

        fun step() {
            val task = tasks.removeFirstOrNull()
            if (task == null) clock.advanceTimeBy(Duration.ofMillis(1)) else task.run()
        }

        /** If no caller got the text of an export, its lease stays valid until it ends. */
        fun end(longest: Duration) {
            var steps = 0L
            while (steps++ < longest.toMillis() && (!job.isCompleted || steps < 100)) {
                step()
            }
            assertThat(job.isCompleted).isTrue()
            clock.advanceTimeBy(longest)
            assertThat(store.contents()).isEmpty()
            assertThat(locks.toString()).contains("0 acquiring, 0 held, 0 releasing")
            val closed = locks.close().toFuture()
            clock.advanceTimeBy(longest)
            assertThat(closed).isCompleted()
        }
    }

    @ParameterizedTest
    @EnumSource
    fun aCancellationAfterAnyStepLeavesNothing(use: Use) {
        var steps = 0
        while (true) {
            val world = World(use.work)
            repeat(steps) { world.step() }
            val wasOver = world.job.isCompleted
            world.job.cancel()
            try {
                world.end(if (use == Use.ADOPT) Duration.ofSeconds(31) else Duration.ofSeconds(5))
            } catch (e: AssertionError) {
                throw AssertionError("cancelled after $steps steps: ${e.message}", e)
            }
            if (wasOver) break
            assertThat(steps).isLessThan(1_000)
            steps++
        }
        assertThat(steps).isGreaterThan(5)
    }

    @Test
    fun noCancellationOnManyThreadsLeavesAnything() {
        val store = InMemoryLockBackend.create()
        val locks = LockClient.builder(store).closeBackend(false).build()
        val probe = ExclusionProbe.exclusive()
        val finished = AtomicInteger()
        runBlocking {
            val scope = CoroutineScope(Dispatchers.Default)
            val users =
                List(8) { user ->
                    scope.launch {
                        repeat(400) {
                            val patience = ThreadLocalRandom.current().nextInt(1, 3_000).microseconds
                            withTimeoutOrNull(patience) { use(user, locks, probe) }?.let { finished.incrementAndGet() }
                        }
                    }
                }
            users.forEach { it.join() }
            withTimeoutOrNull(20_000.milliseconds) {
                while (store.contents().isNotEmpty()) {
                    delay(5) // lets withdrawals in the background end
                }
            }
        }
        assertThat(store.contents()).isEmpty()
        assertThat(finished).hasPositiveValue()
        probe.verify()
        locks.close().block()
    }

    private suspend fun use(
        user: Int,
        locks: LockClient,
        probe: ExclusionProbe,
    ) {
        when (user % 4) {
            0 -> locks.election("a").leadAndAwait { lease -> probe.hold(lease.fencingToken()) }
            1 -> locks.lock("a").tryAcquireAndAwait()?.releaseAndAwait()
            else -> locks.lock("a").withLockAndAwait { lease -> probe.hold(lease.fencingToken()) }
        }
    }

    private suspend fun ExclusionProbe.hold(token: Long) {
        enter(token)
        try {
            yield()
        } finally {
            exit()
        }
    }

    private companion object {
        val TWO_MS: Duration = Duration.ofMillis(2)
    }
}
