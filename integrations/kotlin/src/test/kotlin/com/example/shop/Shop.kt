package com.example.shop

import io.holdfast.LockClient
import io.holdfast.kotlin.lockOptions
import io.holdfast.kotlin.waitTimeout
import io.holdfast.kotlin.withLockAndAwait
import kotlinx.coroutines.delay
import java.util.concurrent.ConcurrentHashMap
import kotlin.time.Duration.Companion.seconds

class Shop(
    private val locks: LockClient,
    private val stock: Stock,
) {
    private val options = lockOptions { waitTimeout(3.seconds) }

    /** How many are left, or null when the item is sold out. */
    suspend fun sell(item: String): Int? =
        locks.lock("stock/$item").with(options).withLockAndAwait { lease ->
            val left = stock.read(item, lease.fencingToken()) - 1
            if (left < 0) return@withLockAndAwait null
            stock.write(item, left, lease.fencingToken())
            left
        }
}

/** Stands for a table stock(item, amount, token). Each function stands for one conditional update. */
class Stock(
    amounts: Map<String, Int>,
) {
    private class Row(
        val amount: Int,
        val token: Long,
    )

    private val rows = ConcurrentHashMap(amounts.mapValues { Row(it.value, 0) })

    /** update stock set token = :token where item = :item and token <= :token */
    suspend fun read(
        item: String,
        token: Long,
    ): Int {
        delay(20)
        val row = rows.compute(item) { _, row -> if (row == null || row.token > token) row else Row(row.amount, token) }
        check(row != null && row.token == token) { "no $item, or a later owner of the lock was here" }
        return row.amount
    }

    /** update stock set amount = :amount where item = :item and token = :token */
    suspend fun write(
        item: String,
        amount: Int,
        token: Long,
    ) {
        delay(20)
        val row = rows.computeIfPresent(item) { _, row -> if (row.token == token) Row(amount, token) else row }
        check(row?.token == token) { "a later owner of the lock was here" }
    }
}
