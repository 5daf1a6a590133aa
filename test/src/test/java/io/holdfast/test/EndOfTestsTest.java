package io.holdfast.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.holdfast.LockClient;
import io.holdfast.LockClosedException;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;

/** The checks at the end of a test, and the state at the beginning of the next one. JUnit runs the samples. */
class EndOfTestsTest {

    static final class Leaks {

        @RegisterExtension
        final TestLocks locks = TestLocks.virtualTime();

        @Test
        void holds() {
            LockLease unused = locks.await(locks.client().lock("a").acquire());
        }

        @Test
        void works() {
            Disposable unused = locks.client().lock("b").withLock(Mono.never()).subscribe();
        }

        @Test
        void waits() {
            locks.holdElsewhere("c");
            Disposable unused = locks.client().lock("c").acquire().subscribe();
        }

        @Test
        void isFrozen() {
            Disposable unused = locks.client().lock("d").withLock(Mono.never()).subscribe();
            locks.held("d").freeze();
        }

        @Test
        void failsInACallback() {
            locks.onAcquired("e", it -> {
                throw new IllegalStateException("of the callback");
            });
            locks.await(locks.client().lock("e").withLock(Mono.just(1)));
        }

        @Test
        void failsByItself() {
            LockLease unused = locks.await(locks.client().lock("f").acquire());
            throw new IllegalStateException("of the test");
        }

        /** The client of the test that ran last. */
        static LockClient client;

        @BeforeEach
        void recordTheClient() {
            client = locks.client();
        }

        @Test
        void leavesNothingButRivalsAndFaults() {
            locks.holdElsewhere("g");
            locks.await(locks.client().lock("h").withLock(Mono.just(1)));
            CompletableFuture<LockLease> left =
                    locks.client().lock("g").acquire().toFuture();
            locks.unavailable();
            assertThat(left.cancel(true)).isTrue(); // its withdrawal does not arrive
        }
    }

    @Test
    void aLeftoverFailsTheTestAndIsNamed() {
        Ran ran = Ran.of(Leaks.class);

        assertThat(ran.failure("holds"))
                .isInstanceOf(AssertionError.class)
                .hasMessage(
                        "after holds():%n  lock 'a' is still held with token 1: let the work end, release the lease that acquire() gave, or dispose of the subscription"
                                .formatted());
        assertThat(ran.failure("works")).hasMessageContaining("lock 'b' is still held with token 1: let the work end");
        assertThat(ran.failure("waits"))
                .hasMessage(
                        "after waits():%n  lock 'c' is still waited for: dispose of the subscription that waits, or let its waitTimeout pass"
                                .formatted());
        assertThat(ran.failure("isFrozen"))
                .hasMessageContaining(
                        "lock 'd' is frozen with token 1, and work goes on under it: let it end, or dispose of its subscription");
        assertThat(ran.failure("failsInACallback"))
                .hasMessageContaining(
                        "a callback of onAcquired failed: java.lang.IllegalStateException: of the callback");
        assertThat(ran.failure("failsByItself")).hasMessage("of the test").hasNoSuppressedExceptions();
        assertThat(ran.passed("leavesNothingButRivalsAndFaults")).isTrue();
        assertThat(ran.results()).hasSize(7);
        assertClosed(Leaks.client);
        assertThat(VirtualTimeScheduler.isFactoryEnabled()).isFalse();
    }

    @TestMethodOrder(MethodOrderer.MethodName.class)
    static final class Shared {

        @RegisterExtension
        static final TestLocks LOCKS = TestLocks.virtualTime();

        static final LockClient CLIENT = LOCKS.client();

        @Test
        void a1LeavesClaims() {
            LOCKS.holdElsewhere("rival");
            LOCKS.onAcquired("x", it -> {
                throw new IllegalStateException("not in the next test");
            });
            LOCKS.await(CLIENT.lock("x").withLock(Mono.just(1)));
            LOCKS.wrote("x", 5);
            LockLease unused = LOCKS.await(CLIENT.lock("left").acquire());
            LOCKS.unavailable();
            LOCKS.answersAfter(Duration.ofDays(1));
        }

        @Test
        void a2StartsEmpty() {
            LOCKS.assertThat("left").isFree().grants(0);
            LOCKS.await(CLIENT.lock("left").withLock(Mono.just(1)));
            LOCKS.await(CLIENT.lock("rival").withLock(Mono.just(1)));
            LOCKS.await(CLIENT.lock("x").withLock(Mono.just(1)));
            LOCKS.wrote("x", 1);
            LOCKS.assertThat("x").tokensRise();
        }

        @Test
        void a3HasTheSameClock() {
            assertThat(LOCKS.scheduler().isDisposed()).isFalse();
            LOCKS.await(CLIENT.lock("long").withLock(Mono.delay(Duration.ofHours(1))));
            LOCKS.assertThat("long").isFree();
        }

        @Test
        void a4LeavesWaiters() {
            LOCKS.holdElsewhere("crowd");
            for (int i = 0; i < 20; i++) {
                Disposable unused = CLIENT.lock("crowd").acquire().subscribe(lease -> {}, error -> {});
            }
        }

        @Test
        void a5DoesNotMeetThem() {
            LOCKS.assertThat("crowd").isFree().waiters(0).grants(0);
            LOCKS.await(CLIENT.lock("crowd").withLock(Mono.delay(Duration.ofMinutes(1))));
            LOCKS.assertThat("crowd").isFree().grants(1);
        }

        @Nested
        class Inner {

            @Test
            void usesItToo() {
                LOCKS.await(CLIENT.lock("left").withLock(Mono.just(1)));
            }
        }

        @Nested
        class AnotherInner {

            @Test
            void usesItAfterTheEndOfTheOther() {
                LOCKS.await(CLIENT.lock("left").withLock(Mono.just(1)));
            }
        }
    }

    @Test
    void theNextTestOfAClassHasAnEmptyBackEndAndTheSameClient() {
        Ran ran = Ran.of(Shared.class);

        assertThat(ran.failure("a1LeavesClaims")).hasMessageContaining("'left'");
        assertThat(ran.passed("a2StartsEmpty")).as("%s", ran).isTrue();
        assertThat(ran.passed("a3HasTheSameClock")).as("%s", ran).isTrue();
        assertThat(ran.failure("a4LeavesWaiters")).hasMessageContaining("lock 'crowd' is still waited for");
        assertThat(ran.passed("a5DoesNotMeetThem")).as("%s", ran).isTrue();
        assertThat(ran.passed("usesItToo")).as("%s", ran).isTrue();
        assertThat(ran.passed("usesItAfterTheEndOfTheOther")).as("%s", ran).isTrue();
        assertThat(Ran.of(Shared.class).passed("a2StartsEmpty"))
                .as("again, as by another class that inherits the field")
                .isTrue();
    }

    private static void assertClosed(LockClient client) {
        assertThat(client.lock("x").acquire().toFuture())
                .failsWithin(Duration.ofSeconds(10))
                .withThrowableThat()
                .withCauseInstanceOf(LockClosedException.class);
        assertThat(client.toString()).contains("0 acquiring, 0 held, 0 releasing, 0 alarms");
    }

    static final class Stuck {

        @RegisterExtension
        final TestLocks locks = new TestLocks(new VirtualTime(Duration.ofMillis(300)));

        @Test
        void blocks() {
            Mono.delay(Duration.ofMinutes(1)).block();
        }

        @Test
        void getsAFuture() throws Exception {
            Mono.delay(Duration.ofMinutes(1)).toFuture().get();
        }

        @Test
        void joinsAFuture() {
            Mono.delay(Duration.ofMinutes(1)).toFuture().join();
        }

        @Test
        void blocksForAValueThatIsThere() {
            Mono.just(1).block();
        }
    }

    @Test
    void aTestThatBlocksInVirtualTimeFailsInsteadOfHanging() {
        Ran ran = Ran.of(Stuck.class);

        for (String test : new String[] {"blocks", "getsAFuture", "joinsAFuture"}) {
            assertThat(ran.failure(test))
                    .isInstanceOf(AssertionError.class)
                    .hasMessage(
                            "the test waited for PT0.3S of real time, with block(), a future or a StepVerifier, for an event that did not happen; virtual time stands still meanwhile. Use await(mono) of TestLocks, or subscribe first and advance(time) then, or use TestLocks.realTime()");
        }
        assertThat(ran.passed("blocksForAValueThatIsThere")).isTrue();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    static final class StuckInAVerifier {

        @RegisterExtension
        final TestLocks locks = new TestLocks(new VirtualTime(Duration.ofMillis(300)));

        @Test
        void verifies() {
            StepVerifier.create(Mono.delay(Duration.ofMinutes(1)))
                    .expectNextCount(1)
                    .verifyComplete();
        }

        /** A task of the verifier advances the time, so it is not stuck. */
        @Test
        void advances() {
            StepVerifier.create(Mono.delay(Duration.ofMinutes(1)))
                    .then(() -> locks.advance(Duration.ofMinutes(1)))
                    .expectNextCount(1)
                    .verifyComplete();
        }
    }

    @Test
    void aVerifierThatWaitsInVirtualTimeFailsInsteadOfHanging() {
        assertStuck(StuckInAVerifier.class, "verifies");
        assertThat(Ran.of(StuckInAVerifier.class).passed("advances")).isTrue();
    }

    static final class StuckAround {

        @RegisterExtension
        final TestLocks locks = new TestLocks(new VirtualTime(Duration.ofMillis(300)));

        @BeforeEach
        void blocksBefore(TestInfo test) {
            if (test.getDisplayName().startsWith("before")) {
                Mono.delay(Duration.ofMinutes(1)).block();
            }
        }

        @AfterEach
        void blocksAfter(TestInfo test) {
            if (test.getDisplayName().startsWith("after")) {
                Mono.delay(Duration.ofMinutes(1)).block();
            }
        }

        @Test
        void before() {}

        @Test
        void after() {}

        @TestFactory
        List<DynamicTest> factory() {
            return List.of(dynamicTest(
                    "dynamic", () -> Mono.delay(Duration.ofMinutes(1)).block()));
        }

        @TestFactory
        List<DynamicTest> stuckFactory() {
            Mono.delay(Duration.ofMinutes(1)).block();
            return List.of();
        }
    }

    static final class StuckBeforeAll {

        @RegisterExtension
        static final TestLocks LOCKS = new TestLocks(new VirtualTime(Duration.ofMillis(300)));

        @BeforeAll
        static void blocks() {
            Mono.delay(Duration.ofMinutes(1), LOCKS.scheduler()).block();
        }

        @Test
        void isNotReached() {}
    }

    static final class StuckAfterAll {

        @RegisterExtension
        static final TestLocks LOCKS = new TestLocks(new VirtualTime(Duration.ofMillis(300)));

        @AfterAll
        static void blocks() {
            Mono.delay(Duration.ofMinutes(1), LOCKS.scheduler()).block();
        }

        @Test
        void passes() {}
    }

    @Test
    void aMethodAroundATestThatBlocksInVirtualTimeFailsInsteadOfHanging() {
        assertStuck(StuckAround.class, "before", "after", "dynamic", "stuckFactory");
        assertStuck(StuckBeforeAll.class, "EndOfTestsTest$StuckBeforeAll");
        assertStuck(StuckAfterAll.class, "EndOfTestsTest$StuckAfterAll");
    }

    private static void assertStuck(Class<?> sample, String... failed) {
        Ran ran = assertTimeoutPreemptively(Duration.ofSeconds(20), () -> Ran.of(sample));
        for (String name : failed) {
            assertThat(ran.results()).containsKey(name);
            assertThat(ran.failure(name))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageStartingWith("the test waited for PT0.3S of real time");
        }
    }

    static final class Threads {

        @RegisterExtension
        final TestLocks locks = TestLocks.virtualTime();

        @Test
        void subscribesOnAnother() throws Exception {
            CountDownLatch subscribed = new CountDownLatch(1);
            CompletableFuture<String> result = new CompletableFuture<>();
            Thread other = new Thread(() -> {
                Disposable unused = locks.client()
                        .lock("t")
                        .withLock(Mono.delay(Duration.ofHours(1)).thenReturn("done"))
                        .subscribe(result::complete, result::completeExceptionally);
                subscribed.countDown();
            });
            other.start();
            subscribed.await();
            locks.advance(Duration.ofHours(1));
            assertThat(result).isCompletedWithValue("done");
            other.join();
        }

        @Test
        void worksOnReactorsOwn() {
            assertThat(locks.await(locks.client()
                            .lock("t")
                            .withLock(Mono.fromCallable(() -> "done").subscribeOn(Schedulers.boundedElastic()))))
                    .isEqualTo("done");
        }

        /** A task of the clock takes long on another thread. Still, the time has passed when advance() returns. */
        @Test
        void advancesWhileAnotherThreadDoes() throws Exception {
            CountDownLatch inside = new CountDownLatch(1);
            CountDownLatch goOn = new CountDownLatch(1);
            Thread other = new Thread(() -> {
                Disposable unused = locks.scheduler().schedule(() -> {
                    inside.countDown();
                    try {
                        goOn.await();
                    } catch (InterruptedException e) {
                        throw new CompletionException(e);
                    }
                });
            });
            other.start();
            inside.await();
            CompletableFuture<Long> due = Mono.delay(Duration.ofSeconds(5)).toFuture();
            Thread opener = new Thread(() -> {
                while (locks.scheduler().now(java.util.concurrent.TimeUnit.SECONDS) < 5) {
                    Thread.onSpinWait();
                }
                goOn.countDown();
            });
            opener.start();
            locks.advance(Duration.ofSeconds(5));
            assertThat(due).isDone();
            other.join();
            opener.join();
        }

        @Test
        void advancesInsideATask() {
            CompletableFuture<Long> due = Mono.delay(Duration.ofSeconds(5)).toFuture();
            Disposable unused = locks.scheduler().schedule(() -> locks.advance(Duration.ofSeconds(5)));
            assertThat(due).isDone();
        }
    }

    @Test
    void otherThreadsNeitherHangNorMissATask() {
        Ran ran = Ran.of(Threads.class);
        assertThat(ran.results())
                .hasSize(4)
                .allSatisfy((name, result) ->
                        assertThat(result.getThrowable()).as(name).isEmpty());
    }

    static final class Real {

        @RegisterExtension
        final TestLocks locks = TestLocks.realTime();

        @Test
        void blocks() {
            assertThat(locks.client()
                            .lock("r")
                            .withLock(Mono.delay(Duration.ofMillis(5)).thenReturn("done"))
                            .block())
                    .isEqualTo("done");
            assertThat(locks.<String>await(Mono.empty())).isNull();
        }

        @Test
        void worksOnAnExecutor() {
            assertThat(locks.await(locks.client()
                            .lock("r")
                            .withLock(Mono.fromFuture(() -> CompletableFuture.supplyAsync(() -> "done")))))
                    .isEqualTo("done");
        }

        /** That client does not report events to the extension, and another one has used the lock. */
        @Test
        void losesTheLockOfAClientThatOtherCodeMade() {
            locks.await(locks.client().lock("r").withLock(Mono.just(1)));
            LockClient other =
                    LockClient.builder(locks.backend()).closeBackend(false).build();
            LockOptions options = LockOptions.builder().autoRenew(false).build();
            LockLease lease = locks.await(other.lock("r").with(options).acquire());
            locks.held("r").lose(LossReason.NOT_HELD);
            assertThat(locks.await(lease.onLoss())).isEqualTo(LossReason.NOT_HELD);
            locks.await(other.close());
        }

        @Test
        void advances() {
            locks.advance(Duration.ofSeconds(1));
        }

        @Test
        void holds() {
            LockLease unused = locks.client().lock("r").acquire().block();
        }

        /** The work ends on another thread, shortly after the test has ended. */
        @Test
        void endsSoon() {
            Disposable unused = locks.client()
                    .lock("r")
                    .withLock(Mono.delay(Duration.ofMillis(50)))
                    .subscribe();
        }
    }

    @Test
    void inRealTime() {
        Ran ran = Ran.of(Real.class);

        assertThat(ran.passed("blocks")).as("%s", ran).isTrue();
        assertThat(ran.passed("worksOnAnExecutor")).as("%s", ran).isTrue();
        assertThat(ran.passed("endsSoon")).as("%s", ran).isTrue();
        assertThat(ran.passed("losesTheLockOfAClientThatOtherCodeMade"))
                .as("%s", ran)
                .isTrue();
        assertThat(ran.failure("holds")).hasMessageContaining("lock 'r' is still held with token 1");
        assertThat(ran.failure("advances"))
                .hasMessage(
                        "time passes by itself here and cannot be advanced: make the extension with TestLocks.virtualTime()");
    }

    @Test
    void twoTestsInVirtualTimeAtOnceAreRefused() {
        VirtualTime first = new VirtualTime(Duration.ofSeconds(1));
        VirtualTime second = new VirtualTime(Duration.ofSeconds(1));
        first.begin();
        try {
            assertThatThrownBy(second::begin)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("another test uses virtual time at this moment");
            second.end();
            assertThat(VirtualTimeScheduler.isFactoryEnabled()).isTrue();
        } finally {
            first.end();
        }
    }
}
