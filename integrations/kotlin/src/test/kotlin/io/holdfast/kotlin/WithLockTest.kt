package io.holdfast.kotlin

import io.holdfast.LockTimeoutException
import io.holdfast.testkit.Fault
import io.holdfast.testkit.FaultyLockBackend.Operation
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.isActive
import kotlinx.coroutines.launch
import kotlinx.coroutines.reactor.awaitSingle
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.withContext
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import java.time.Duration.ofMillis
import java.time.Duration.ofSeconds
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.seconds

class WithLockTest {
    @Test
    fun theBlockRunsUnderTheLockAndItsResultComesAfterTheRelease() =
        island {
            faults.on(Operation.RELEASE).next(Fault.delayedReply(ofMillis(300)))
            val token =
                lock().withLockAndAwait { lease ->
                    assertThat(lease.isValid).isTrue()
                    assertThat(isHeld()).isTrue()
                    lease.fencingToken()
                }
            assertThat(token).isPositive()
            assertThat(now).isEqualTo(300)
            assertThat(isHeld()).isFalse()
        }

    @Test
    fun aBlockMayReturnNull() =
        island {
            assertThat(lock().withLockAndAwait { null as String? }).isNull()
        }

    @Test
    fun aLongBlockKeepsItsLock() =
        island {
            lock().withLockAndAwait { lease ->
                delay(1.hours)
                assertThat(lease.isValid).isTrue()
            }
        }

    @Test
    fun oneBlockAtATime() =
        island {
            var inside = 0
            val workers =
                List(20) {
                    test.async {
                        lock().withLockAndAwait {
                            assertThat(++inside).isEqualTo(1)
                            delay(7)
                            inside--
                        }
                    }
                }
            workers.forEach { it.await() }
        }

    @Test
    fun theErrorOfTheBlockIsRethrownAsItIsAfterTheRelease() =
        island {
            faults.on(Operation.RELEASE).next(Fault.delayedReply(ofMillis(300)))
            val refused = Refused(7)
            val thrown =
                thrownBy<Refused> {
                    lock().withLockAndAwait {
                        delay(50)
                        throw refused
                    }
                }
            assertThat(thrown).isSameAs(refused).hasNoSuppressedExceptions()
            assertThat(now).isEqualTo(350)
        }

    @Test
    fun theEndOfTheWaitIsAnError() =
        island {
            val rival = lock().acquireAndAwait()
            val patient = lock().with(lockOptions { waitTimeout(3.seconds) })
            val timeout = thrownBy<LockTimeoutException> { patient.withLockAndAwait { error("runs without the lock") } }
            assertThat(timeout.backendAnswered()).isTrue()
            assertThat(now).isEqualTo(3_000)
            rival.releaseAndAwait()
        }

    @Test
    fun aCancelledWaiterLeavesTheQueue() =
        island {
            val rival = lock().acquireAndAwait()
            val waiter = test.launch { lock().withLockAndAwait { error("runs without the lock") } }
            delay(500)
            waiter.cancelAndJoin()
            rival.releaseAndAwait()
            delay(1)
            assertThat(isHeld()).isFalse()
        }

    @Test
    fun aCancellationWaitsForTheRelease() =
        island {
            faults.on(Operation.RELEASE).next(Fault.delayedRequest(ofMillis(300)))
            val worker = test.launch { lock().withLockAndAwait { awaitCancellation() } }
            delay(1)
            assertThat(isHeld()).isTrue()
            worker.cancelAndJoin()
            assertThat(now).isEqualTo(301)
            assertThat(isHeld()).isFalse()
        }

    @Test
    fun aCancellationWaitsForAnUnreachableBackEndAtMostOneOperationTimeout() =
        island {
            faults.on(Operation.RELEASE).always(Fault.lostRequest().silently())
            val worker = test.launch { lock().withLockAndAwait { awaitCancellation() } }
            delay(1)
            worker.cancelAndJoin()
            assertThat(now).isEqualTo(2_001)
            assertThat(worker.isCancelled).isTrue()
            faults.on(Operation.RELEASE).none()
            delay(5.seconds) // the release goes on in the background
            assertThat(isHeld()).isFalse()
        }

    @Test
    fun theReleaseComesAfterTheCleanUpOfACancelledBlock() =
        island {
            val worker =
                test.launch {
                    lock().withLockAndAwait { lease ->
                        try {
                            awaitCancellation()
                        } finally {
                            withContext(NonCancellable) {
                                delay(3_000)
                                assertThat(lease.isValid).isTrue()
                                assertThat(isHeld()).isTrue()
                            }
                        }
                    }
                }
            delay(1)
            worker.cancelAndJoin()
            assertThat(now).isEqualTo(3_001)
            assertThat(isHeld()).isFalse()
        }

    @Test
    fun childrenOfTheBlockEndBeforeTheRelease() =
        island {
            var ended = false
            val result =
                lock().withLockAndAwait { lease ->
                    launch {
                        delay(5_000)
                        ended = lease.isValid
                    }
                    "done"
                }
            assertThat(result).isEqualTo("done")
            assertThat(ended).isTrue()
            assertThat(now).isEqualTo(5_000)
        }

    @Test
    fun theErrorOfAChildCancelsTheBlockAndReleases() =
        island {
            val refused =
                thrownBy<Refused> {
                    lock().withLockAndAwait {
                        launch { throw Refused(3) }
                        awaitCancellation()
                    }
                }
            assertThat(refused.code).isEqualTo(3)
            assertThat(isHeld()).isFalse()
        }

    @Test
    fun aLossCancelsTheBlockWithItsChildrenAndThrowsLockLostException() =
        island {
            var cancelled = 0
            val loss =
                lossOf {
                    lock().with(SHORT_HOLD).withLockAndAwait {
                        launch {
                            try {
                                awaitCancellation()
                            } catch (e: CancellationException) {
                                cancelled++
                                throw e
                            }
                        }
                        try {
                            awaitCancellation()
                        } finally {
                            cancelled++
                        }
                    }
                }
            assertThat(loss.lockName()).isEqualTo("stock/42")
            assertThat(cancelled).isEqualTo(2)
            assertThat(now).isBetween(980, 1_000)
            assertThat(currentCoroutineContext().isActive).isTrue()
            delay(100)
        }

    @Test
    fun aLossIsThrownEvenIfTheBlockSwallowsItsCancellation() =
        island {
            lossOf {
                lock().with(SHORT_HOLD).withLockAndAwait {
                    runCatching { awaitCancellation() }
                    "swallowed"
                }
            }
            delay(100)
        }

    @Test
    fun exceptionOfTheBlockAfterALossIsSuppressed() =
        island {
            val loss =
                lossOf {
                    lock().with(SHORT_HOLD).withLockAndAwait {
                        try {
                            awaitCancellation()
                        } finally {
                            throw Refused(1)
                        }
                    }
                }
            assertThat(loss.suppressed).singleElement().isInstanceOf(Refused::class.java)
            delay(100)
        }

    @Test
    fun aLossFoundByTheReleaseIsAnError() =
        island {
            lossOf {
                lock().withLockAndAwait { lease ->
                    val holder = checkNotNull(locks.election("stock/42").leaderAndAwait())
                    assertThat(store.inspector().breakHold("stock/42", holder).awaitSingle()).isTrue()
                    assertThat(lease.isValid).isTrue()
                }
            }
        }

    @Test
    fun aCancelledCallerGetsItsCancellationEvenIfTheLeaseIsLost() =
        island {
            var seen: Throwable? = null
            val worker =
                test.launch {
                    try {
                        lock().with(SHORT_HOLD).withLockAndAwait {
                            withContext(NonCancellable) { delay(5_000) }
                        }
                    } catch (e: Throwable) {
                        seen = e
                        throw e
                    }
                }
            delay(500)
            worker.cancelAndJoin()
            assertThat(seen).isInstanceOf(CancellationException::class.java)
        }

    @Test
    fun severalLocksAreTakenAndReleasedTogether() =
        island {
            val both = locks.all(lock("a"), lock("b"))
            both.withLockAndAwait { leases ->
                assertThat(leases.leases()).hasSize(2)
                assertThat(isHeld("a")).isTrue()
                assertThat(isHeld("b")).isTrue()
            }
            assertThat(isHeld("a")).isFalse()

            val leases = both.acquireAndAwait()
            assertThat(both.tryAcquireAndAwait()).isNull()
            leases.releaseAndAwait()
            assertThat(isHeld("b")).isFalse()
        }

    @Test
    fun aCancelledReleaseIsSent() =
        island {
            faults.on(Operation.RELEASE).next(Fault.delayedRequest(ofSeconds(1)))
            val worker =
                test.launch {
                    val lease = lock().acquireAndAwait()
                    try {
                        awaitCancellation()
                    } finally {
                        lease.releaseAndAwait()
                    }
                }
            test.runCurrent()
            worker.cancelAndJoin()
            assertThat(now).isEqualTo(1_000)
            assertThat(isHeld()).isFalse()
        }

    @Test
    fun tryAcquireReturnsNullIfTheLockIsTaken() =
        island {
            val lease = checkNotNull(lock().tryAcquireAndAwait())
            assertThat(lock().tryAcquireAndAwait()).isNull()
            lease.renewAndAwait()
            lease.releaseAndAwait()
        }

    @Test
    fun aLeaseIsExportedAndAdopted() =
        island {
            val lease = lock().acquireAndAwait()
            val adopted = locks.adoptAndAwait(lease.exportAndAwait())
            assertThat(adopted.fencingToken()).isEqualTo(lease.fencingToken())
            adopted.releaseAndAwait()
            locks.pingAndAwait()

            val writer = locks.readWriteLock("shelf").writeLock().acquireAndAwait()
            val reader = writer.downgradeAndAwait()
            assertThat(reader.isValid).isTrue()
            reader.releaseAndAwait()
        }
}
