package com.example.shop

import io.holdfast.LockClient
import io.holdfast.kotlin.asReactorScheduler
import io.holdfast.kotlin.closeAndAwait
import io.holdfast.memory.InMemoryLockBackend
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.test.testTimeSource
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test

@OptIn(ExperimentalCoroutinesApi::class)
class StockTest {
    @Test
    fun nothingIsSoldTwice() =
        runTest {
            val timer = backgroundScope.asReactorScheduler(testTimeSource)
            val locks = LockClient.builder(InMemoryLockBackend.create(timer)).timer(timer).build()
            val shop = Shop(locks, Stock(mapOf("tea" to 3)))
            val sales = List(5) { async { shop.sell("tea") } }.awaitAll()
            assertThat(sales).containsExactlyInAnyOrder(2, 1, 0, null, null)
            locks.closeAndAwait()
        }
}
