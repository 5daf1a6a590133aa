package io.holdfast.kotlin

import io.holdfast.LockClient
import io.holdfast.ReactiveLock
import io.holdfast.memory.InMemoryLockBackend
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asContextElement
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.channelFlow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.reactor.ReactorContext
import kotlinx.coroutines.reactor.asCoroutineContext
import kotlinx.coroutines.reactor.awaitSingle
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import reactor.core.publisher.Mono
import reactor.core.scheduler.Schedulers
import reactor.util.context.Context
import java.util.concurrent.Executors
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.coroutineContext

class ContextTest {
    @Test
    fun aNestedAcquisitionReturnsTheHeldLeaseEvenAfterSuspensions() =
        island {
            assertThat(lock().currentAndAwait()).isNull()
            lock().withLockAndAwait { lease ->
                delay(10)
                withContext(Dispatchers.Default) {
                    val nested = lock().withLockAndAwait { it.fencingToken() }
                    assertThat(nested).isEqualTo(lease.fencingToken())
                }
                val piped = lock().withLock { inner -> Mono.just(inner.fencingToken()) }.awaitSingle()
                assertThat(piped).isEqualTo(lease.fencingToken())
                assertThat(lock().currentAndAwait()?.fencingToken()).isEqualTo(lease.fencingToken())
                assertThat(lock().tryAcquireAndAwait()?.fencingToken()).isEqualTo(lease.fencingToken())
            }
        }

    @Test
    fun aBlockInsideAPipelineOfReactorIsNestedInIt() =
        island {
            val lock = lock()
            val tokens =
                lock
                    .withLock { lease ->
                        kotlinx.coroutines.reactor.mono(Dispatchers.Unconfined) {
                            listOf(lease.fencingToken(), lock.withLockAndAwait { it.fencingToken() })
                        }
                    }.awaitSingle()
            assertThat(tokens[0]).isEqualTo(tokens[1])
        }

    @Test
    fun theReactorContextOfTheCallerIsKept() =
        island {
            withContext(Context.of("tenant", "blue").asCoroutineContext()) {
                lock().withLockAndAwait {
                    val inside: String = checkNotNull(coroutineContext[ReactorContext]).context["tenant"]
                    assertThat(inside).isEqualTo("blue")
                }
                assertThat(checkNotNull(coroutineContext[ReactorContext]).context.size()).isEqualTo(1)
            }
        }

    @Test
    fun elementsOfTheThreadAreKept() =
        island {
            val request = ThreadLocal<String>()
            withContext(request.asContextElement("r-17")) {
                lock().withLockAndAwait {
                    assertThat(request.get()).isEqualTo("r-17")
                    delay(10)
                    val child = async(Dispatchers.Default) { request.get() }
                    assertThat(child.await()).isEqualTo("r-17")
                }
                assertThat(request.get()).isEqualTo("r-17")
            }
        }

    @Test
    fun elementsPassAsAFlow() =
        island {
            val lock = lock()
            val flow =
                channelFlow {
                    lock.withLockAndAwait { lease -> repeat(3) { send(lease.fencingToken()) } }
                }
            assertThat(flow.toList()).hasSize(3).doesNotContainNull()
        }

    @Test
    fun theBlockRunsOnTheDispatcherOfTheCaller() {
        Executors.newSingleThreadExecutor { Thread(it, "caller") }.asCoroutineDispatcher().use { dispatcher ->
            assertThat(threadsOf(dispatcher, ::holding) + threadsOf(dispatcher, ::acquiring)).containsOnly("caller")
        }
    }

    @Test
    fun withoutADispatcherNothingRunsOnAThreadOfTheDriver() {
        assertThat(threadsOf(Dispatchers.Unconfined, ::holding) + threadsOf(Dispatchers.Unconfined, ::acquiring))
            .hasSize(4)
            .allMatch { it.startsWith("DefaultDispatcher-worker") }
    }

    private suspend fun holding(lock: ReactiveLock): List<String> {
        val inside = lock.withLockAndAwait { threadName() }
        return listOf(inside, threadName())
    }

    private suspend fun acquiring(lock: ReactiveLock): List<String> {
        val lease = lock.acquireAndAwait()
        val acquired = threadName()
        lease.releaseAndAwait()
        return listOf(acquired, threadName())
    }

    /** A thread of the back end grants the lock, since a rival holds it before. */
    private fun threadsOf(
        dispatcher: CoroutineContext,
        use: suspend (ReactiveLock) -> List<String>,
    ): List<String> {
        val driver = Schedulers.newSingle("driver")
        val locks = LockClient.builder(InMemoryLockBackend.create(driver)).timer(driver).build()
        try {
            return runBlocking {
                val rival = locks.lock("a").acquireAndAwait()
                val threads = CoroutineScope(dispatcher).async(start = CoroutineStart.UNDISPATCHED) { use(locks.lock("a")) }
                untilWaitedFor(locks)
                rival.releaseAndAwait()
                threads.await()
            }
        } finally {
            locks.close().block()
            driver.dispose()
        }
    }

    /** Waits until the next release hands the lock off. */
    private suspend fun untilWaitedFor(locks: LockClient) {
        while (!locks.toString().contains("1 acquiring")) {
            yield()
        }
    }

    private fun threadName() = Thread.currentThread().name.substringBefore(" @")
}
