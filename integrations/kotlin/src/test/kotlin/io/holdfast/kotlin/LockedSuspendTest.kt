package io.holdfast.kotlin

import io.holdfast.LockClient
import io.holdfast.spring.HoldfastAutoConfiguration
import io.holdfast.spring.HoldfastLockedAutoConfiguration
import io.holdfast.spring.Locked
import io.holdfast.spring.LockedLease
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.reactor.awaitSingle
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatThrownBy
import org.junit.jupiter.api.Test
import org.springframework.boot.SpringApplication
import org.springframework.boot.WebApplicationType
import org.springframework.boot.autoconfigure.ImportAutoConfiguration
import org.springframework.context.annotation.Configuration
import java.util.concurrent.CompletableFuture

/** Tests the annotation of the starter on suspending functions. */
class LockedSuspendTest {
    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(HoldfastAutoConfiguration::class, HoldfastLockedAutoConfiguration::class)
    open class Application

    open class Shop(
        private val locks: LockClient,
    ) {
        open var runs = 0
        open val entered = CompletableDeferred<Unit>()

        @Locked("stock/{#item}")
        open suspend fun sell(item: String): List<Long> {
            yield()
            val nested = locks.lock("stock/$item").withLockAndAwait { it.fencingToken() }
            val holder = checkNotNull(locks.election("stock/$item").leaderAndAwait())
            return listOf(LockedLease.fencingToken().awaitSingle(), nested, holder.fencingToken())
        }

        @Locked("fails")
        open suspend fun fails(): String = throw Refused(4)

        @Locked("endless")
        open suspend fun endless() {
            entered.complete(Unit)
            awaitCancellation()
        }

        @Locked("lines")
        open suspend fun lines(): Flow<Boolean> =
            flow {
                repeat(3) { emit(locks.election("lines").leaderAndAwait() != null) }
            }

        @Locked("job", skipWhenTaken = true)
        open suspend fun job() {
            runs++
        }
    }

    open class Closed {
        @Locked("a")
        suspend fun sell() = Unit
    }

    open class Skipped {
        @Locked("a", skipWhenTaken = true)
        open suspend fun sell(): String = "sold"
    }

    open class Later {
        @Locked("a")
        open suspend fun sell(): CompletableFuture<String> = CompletableFuture.completedFuture("sold")
    }

    private fun <B : Any> start(
        type: Class<B>,
        test: suspend (LockClient, B) -> Unit,
    ) {
        val application = SpringApplication(Application::class.java, type)
        application.setWebApplicationType(WebApplicationType.NONE)
        application.setDefaultProperties(mapOf("holdfast.backend" to "memory"))
        application.run().use { context -> runBlocking { test(context.getBean(LockClient::class.java), context.getBean(type)) } }
    }

    private fun shop(test: suspend (LockClient, Shop) -> Unit) = start(Shop::class.java, test)

    @Test
    fun theFunctionRunsUnderItsLockAndFindsItsLease() =
        shop { locks, shop ->
            val tokens = shop.sell("tea")
            assertThat(tokens).hasSize(3)
            assertThat(tokens.toSet()).hasSize(1)
            assertThat(locks.election("stock/tea").leaderAndAwait()).isNull()
        }

    @Test
    fun errorOfTheFunctionIsRethrownAfterTheRelease() =
        shop { locks, shop ->
            assertThat(thrownBy<Refused> { shop.fails() }.code).isEqualTo(4)
            assertThat(locks.election("fails").leaderAndAwait()).isNull()
        }

    @Test
    fun cancellationOfTheFunctionReleases() =
        shop { locks, shop ->
            runBlocking {
                val worker = launch { shop.endless() }
                shop.entered.await()
                worker.cancelAndJoin()
                locks.lock("endless").acquireAndAwait().releaseAndAwait()
            }
        }

    /** A flow is cold: it is collected after the function has returned. */
    @Test
    fun aFlowIsCollectedUnderItsLock() =
        shop { locks, shop ->
            assertThat(shop.lines().toList()).containsExactly(true, true, true)
            assertThat(locks.election("lines").leaderAndAwait()).isNull()
        }

    @Test
    fun functionIsSkippedIfItsLockIsTaken() =
        shop { locks, shop ->
            shop.job()
            val rival = locks.lock("job").acquireAndAwait()
            shop.job()
            assertThat(shop.runs).isEqualTo(1)
            rival.releaseAndAwait()
        }

    @Test
    fun aFunctionThatIsNotOpenIsRefused() {
        assertThatThrownBy { start(Closed::class.java) { _, _ -> } }
            .rootCause()
            .hasMessageContaining("a public final method cannot be intercepted")
            .hasMessageContaining("kotlin-spring")
    }

    @Test
    fun aFunctionWhoseResultGoesOnAfterTheReleaseIsRefused() {
        assertThatThrownBy { start(Later::class.java) { _, _ -> } }
            .rootCause()
            .hasMessageContaining("its result is or contains a CompletableFuture")
    }

    @Test
    fun aFunctionWithAResultIsNotSkipped() {
        assertThatThrownBy { start(Skipped::class.java) { _, _ -> } }
            .rootCause()
            .hasMessageContaining("it has skipWhenTaken, but returns a result")
    }
}
