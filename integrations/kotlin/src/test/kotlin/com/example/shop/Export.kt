package com.example.shop

import io.holdfast.LockClient
import io.holdfast.kotlin.leadAndAwait
import io.holdfast.kotlin.withLockAndAwait
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.channelFlow
import kotlin.time.Duration.Companion.minutes

fun export(
    locks: LockClient,
    rows: (token: Long) -> Flow<String>,
): Flow<String> =
    channelFlow {
        locks.lock("export").withLockAndAwait { lease -> rows(lease.fencingToken()).collect { send(it) } }
    }

suspend fun bill(
    locks: LockClient,
    sendBills: suspend (token: Long) -> Unit,
) = locks.election("billing").leadAndAwait { lease ->
    while (true) {
        sendBills(lease.fencingToken())
        delay(1.minutes)
    }
}
