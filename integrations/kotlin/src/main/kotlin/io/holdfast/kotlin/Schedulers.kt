package io.holdfast.kotlin

import io.holdfast.kotlin.internal.CoroutineScheduler
import kotlinx.coroutines.CoroutineScope
import reactor.core.scheduler.Scheduler
import kotlin.time.TimeSource

/**
 * A scheduler whose tasks are coroutines of this scope, and whose delays are those of its dispatcher. In tests, it makes a client follow virtual time:
 *
 * ```
 * runTest {
 *     val timer = backgroundScope.asReactorScheduler(testTimeSource)
 *     val locks = LockClient.builder(InMemoryLockBackend.create(timer)).timer(timer).build()
 * }
 * ```
 *
 * Without a dispatcher, and on `Dispatchers.Unconfined`, tasks run on `Dispatchers.Default`.
 *
 * It lives until it is disposed of, or the scope is cancelled: a scope that waits for its children waits for it. A task that throws is told to the
 * scope's exception handler and ends no other task.
 *
 * @param time the clock; in tests that of the virtual time
 * @return a scheduler; to dispose of it leaves the scope as it is
 */
public fun CoroutineScope.asReactorScheduler(time: TimeSource = TimeSource.Monotonic): Scheduler = CoroutineScheduler(this, time)
