package io.holdfast.kotlin

import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.cancel
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit

/** Tasks as coroutines, in scopes of all kinds. */
class SchedulerTest {
    private fun orderOfTasks(scope: CoroutineScope): List<Int> {
        val worker = scope.asReactorScheduler().createWorker()
        val ran = ConcurrentLinkedQueue<Int>()
        val end = CountDownLatch(TASKS)
        repeat(TASKS) { task ->
            worker.schedule {
                ran.add(task)
                end.countDown()
            }
        }
        assertThat(end.await(10, TimeUnit.SECONDS)).isTrue()
        scope.cancel()
        return ran.toList()
    }

    @Test
    fun aWorkerRunsItsTasksInTheirOrder() {
        assertThat(orderOfTasks(CoroutineScope(Dispatchers.IO))).isEqualTo(List(TASKS) { it })
    }

    @Test
    fun aWorkerRunsItsTasksInOrderWithoutADispatcher() {
        val scope =
            object : CoroutineScope {
                override val coroutineContext = Job()
            }
        assertThat(orderOfTasks(scope)).isEqualTo(List(TASKS) { it })
    }

    @Test
    fun aWorkerRunsItsTasksInOrderInAnUnconfinedScope() {
        assertThat(orderOfTasks(CoroutineScope(Dispatchers.Unconfined))).isEqualTo(List(TASKS) { it })
    }

    private companion object {
        const val TASKS = 10_000
    }
}
