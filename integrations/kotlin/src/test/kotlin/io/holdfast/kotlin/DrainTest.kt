package io.holdfast.kotlin

import io.holdfast.LockClosedException
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.supervisorScope
import kotlinx.coroutines.test.runCurrent
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import kotlin.time.Duration.Companion.minutes

class DrainTest {
    @Test
    fun waitersEndHoldersFinishAndTheDrainEndsAfterThem() =
        island {
            supervisorScope {
                val holder =
                    async {
                        lock().withLockAndAwait {
                            delay(2.minutes)
                            lock().withLockAndAwait { "done" }
                        }
                    }
                test.runCurrent()
                val waiter = async { lock().withLockAndAwait { "never" } }
                test.runCurrent()
                locks.drainAndAwait()
                assertThat(holder.await()).isEqualTo("done")
                thrownBy<LockClosedException> { waiter.await() }
                assertThat(now).isEqualTo(2.minutes.inWholeMilliseconds)
            }
        }

    @Test
    fun aCancelledCoroutineOnlyStopsToWaitForTheDrain() =
        island {
            val lease = lock().acquireAndAwait()
            val draining = test.backgroundScope.launch { locks.drainAndAwait() }
            test.runCurrent()
            draining.cancelAndJoin()
            assertThat(lease.isValid).isTrue()
            thrownBy<LockClosedException> { lock("other").acquireAndAwait() }
            lease.releaseAndAwait()
            locks.drainAndAwait()
        }
}
