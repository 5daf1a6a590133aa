package io.holdfast.kotlin.internal

import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.cancel
import kotlinx.coroutines.delay
import kotlinx.coroutines.isActive
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.plus
import reactor.core.Disposable
import reactor.core.Exceptions
import reactor.core.scheduler.Scheduler
import java.util.concurrent.TimeUnit
import kotlin.coroutines.ContinuationInterceptor
import kotlin.time.Duration
import kotlin.time.TimeSource
import kotlin.time.toDuration
import kotlin.time.toDurationUnit

/** Runs tasks as coroutines. Each worker has a view of the dispatcher that runs one of its tasks at a time, in their order. */
internal class CoroutineScheduler(
    parent: CoroutineScope,
    time: TimeSource,
) : Scheduler {
    private val begin = time.markNow()
    private val scope = parent.withThreads() + SupervisorJob(parent.coroutineContext.job)

    override fun now(unit: TimeUnit): Long = begin.elapsedNow().toLong(unit.toDurationUnit())

    override fun schedule(task: Runnable): Disposable = scope.start(task, Duration.ZERO, null)

    override fun schedule(
        task: Runnable,
        delay: Long,
        unit: TimeUnit,
    ): Disposable = scope.start(task, unit.duration(delay), null)

    override fun schedulePeriodically(
        task: Runnable,
        initialDelay: Long,
        period: Long,
        unit: TimeUnit,
    ): Disposable = scope.start(task, unit.duration(initialDelay), unit.duration(period))

    override fun createWorker(): Scheduler.Worker {
        val dispatcher = scope.coroutineContext[ContinuationInterceptor] as? CoroutineDispatcher
        val own = scope + SupervisorJob(scope.coroutineContext.job)
        return CoroutineWorker(if (dispatcher == null) own else own + dispatcher.limitedParallelism(1))
    }

    override fun isDisposed(): Boolean = !scope.isActive

    override fun dispose() = scope.cancel()
}

/** Adds a dispatcher if there is none: only a dispatcher has a view that runs one task at a time. */
private fun CoroutineScope.withThreads(): CoroutineScope = if (coroutineContext.hasNoDispatcher()) this + Dispatchers.Default else this

private class CoroutineWorker(
    private val scope: CoroutineScope,
) : Scheduler.Worker {
    override fun schedule(task: Runnable): Disposable = scope.start(task, Duration.ZERO, null)

    override fun schedule(
        task: Runnable,
        delay: Long,
        unit: TimeUnit,
    ): Disposable = scope.start(task, unit.duration(delay), null)

    override fun schedulePeriodically(
        task: Runnable,
        initialDelay: Long,
        period: Long,
        unit: TimeUnit,
    ): Disposable = scope.start(task, unit.duration(initialDelay), unit.duration(period))

    override fun isDisposed(): Boolean = !scope.isActive

    override fun dispose() = scope.cancel()
}

private fun CoroutineScope.start(
    task: Runnable,
    delay: Duration,
    period: Duration?,
): Disposable {
    if (!isActive) {
        throw Exceptions.failWithRejected()
    }
    val job =
        launch {
            delay(delay)
            task.run()
            while (period != null) {
                delay(period)
                task.run()
            }
        }
    return Disposable { job.cancel() }
}

private fun TimeUnit.duration(amount: Long): Duration = amount.toDuration(toDurationUnit())
