package io.holdfast.kotlin

import io.holdfast.LockLease
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import kotlin.time.Duration.Companion.seconds

class ElectionTest {
    @Test
    fun aTermThatEndsByItselfResigns() =
        island {
            val election = locks.election("billing")
            val token =
                election.leadAndAwait { lease ->
                    assertThat(election.leaderAndAwait()?.fencingToken()).isEqualTo(lease.fencingToken())
                    lease.fencingToken()
                }
            assertThat(token).isPositive()
            assertThat(election.leaderAndAwait()).isNull()
        }

    @Test
    fun theErrorOfATermIsRethrownAsItIs() =
        island {
            val refused = Refused(9)
            assertThat(thrownBy<Refused> { locks.election("billing").leadAndAwait { throw refused } }).isSameAs(refused)
            assertThat(isHeld("billing")).isFalse()
        }

    @Test
    fun aLeaderWhoseLeaseIsLostStandsAgainWhenItsTermHasEnded() =
        island {
            val tokens = mutableListOf<Long>()
            var terms = 0
            val result =
                locks.election("billing").with(SHORT_HOLD).leadAndAwait { lease ->
                    assertThat(++terms).isEqualTo(1)
                    assertThat(lease.isValid).isTrue()
                    tokens += lease.fencingToken()
                    try {
                        if (tokens.size == 3) "elected thrice" else awaitCancellation()
                    } catch (e: CancellationException) {
                        withContext(NonCancellable) { delay(2_500) } // longer than the next lease lasts
                        throw e
                    } finally {
                        terms--
                    }
                }
            assertThat(result).isEqualTo("elected thrice")
            assertThat(tokens).isSorted().doesNotHaveDuplicates()
            delay(5.seconds)
        }

    @Test
    fun aTermThatFailsWithItsOwnLossStandsAgain() =
        island {
            var terms = 0
            locks.election("billing").leadAndAwait { lease ->
                if (++terms == 1) {
                    lease.releaseAndAwait()
                    lease.renewAndAwait()
                }
            }
            assertThat(terms).isEqualTo(2)
        }

    @Test
    fun aCandidateThatStandsAgainAfterItsOwnLossCanBeCancelled() =
        island {
            var rival: LockLease? = null
            val candidate =
                test.launch {
                    locks.election("billing").leadAndAwait { lease ->
                        lease.releaseAndAwait()
                        rival = locks.lock("billing").acquireAndAwait()
                        lease.renewAndAwait()
                    }
                }
            delay(5.seconds)
            try {
                candidate.cancel()
                delay(1)
                assertThat(candidate.isCompleted).isTrue() // the wait is over, although the lock is taken
            } finally {
                checkNotNull(rival).releaseAndAwait()
            }
            delay(1)
        }

    @Test
    fun aCancelledLeaderResigns() =
        island {
            val leader = test.launch { locks.election("billing").leadAndAwait { awaitCancellation() } }
            val candidate = test.launch { locks.election("billing").leadAndAwait { awaitCancellation() } }
            delay(100)
            leader.cancelAndJoin()
            delay(100)
            assertThat(isHeld("billing")).isTrue()
            candidate.cancelAndJoin()
            assertThat(isHeld("billing")).isFalse()
        }
}
