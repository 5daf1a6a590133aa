package io.holdfast.kotlin

import io.holdfast.kotlin.internal.CoroutineScheduler
import kotlinx.coroutines.CoroutineScope
import reactor.core.scheduler.Scheduler
import kotlin.time.TimeSource

/**
 * Returns a scheduler whose tasks are coroutines of this scope, and whose delays are those of its dispatcher. In tests, a client with this
 * scheduler follows virtual time:
 *
 * ```
 * runTest {
 *     val timer = backgroundScope.asReactorScheduler(testTimeSource)
 *     val locks = LockClient.builder(InMemoryLockBackend.create(timer)).timer(timer).build()
 * }
 * ```
 *
 * Without a dispatcher, or with `Dispatchers.Unconfined`, tasks run on `Dispatchers.Default`.
 *
 * It lives until it is disposed or the scope is cancelled: a scope that waits for its children also waits for it. The scope's exception
 * handler gets the exception of a task, which ends no other task.
 *
 * @param time the clock; in tests the clock of the virtual time
 * @return a scheduler; disposing it does not cancel the scope
 */
public fun CoroutineScope.asReactorScheduler(time: TimeSource = TimeSource.Monotonic): Scheduler = CoroutineScheduler(this, time)
