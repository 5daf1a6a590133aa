package com.example.shop

import io.holdfast.LockClient
import io.holdfast.LockTimeoutException
import io.holdfast.kotlin.acquireAndAwait
import io.holdfast.kotlin.asReactorScheduler
import io.holdfast.kotlin.closeAndAwait
import io.holdfast.kotlin.releaseAndAwait
import io.holdfast.memory.InMemoryLockBackend
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.test.testTimeSource
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test

@OptIn(ExperimentalCoroutinesApi::class)
class ShopTest {
    @Test
    fun aCustomerWaitsForThreeSecondsAtMost() =
        runTest {
            val locks = locks()
            val rival = locks.lock("stock/tea").acquireAndAwait()
            val sale = runCatching { Shop(locks, Stock(mapOf("tea" to 3))).sell("tea") }
            assertThat(sale.exceptionOrNull()).isInstanceOf(LockTimeoutException::class.java)
            assertThat(currentTime).isEqualTo(3_000)
            rival.releaseAndAwait()
            locks.closeAndAwait()
        }

    private fun TestScope.locks(): LockClient {
        val timer = backgroundScope.asReactorScheduler(testTimeSource)
        return LockClient.builder(InMemoryLockBackend.create(timer)).timer(timer).build()
    }
}
