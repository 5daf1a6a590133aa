package com.example.shop

import io.holdfast.LockClient
import io.holdfast.kotlin.closeAndAwait
import io.holdfast.memory.InMemoryLockBackend
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch

suspend fun main() {
    val locks = LockClient.create(InMemoryLockBackend.create()) // one per application
    val shop = Shop(locks, Stock(mapOf("tea" to 3)))
    coroutineScope {
        repeat(5) { customer ->
            launch { println("customer $customer: ${shop.sell("tea") ?: "sold out"}") }
        }
    }
    locks.closeAndAwait()
}
