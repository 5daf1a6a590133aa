package io.holdfast.blocking;

import static io.holdfast.blocking.Store.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockClosedException;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.LossReason;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import io.holdfast.testkit.LeftoversExtension;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Locks on the thread of the caller. */
@Timeout(30)
class BlockingLockTest {

    private final Store store = new Store();
    private final BlockingLock lock = store.locks.lock("a");

    @RegisterExtension
    final LeftoversExtension leftovers = new LeftoversExtension().watch("store", store.backend::contents);

    @AfterEach
    void noInterruptIsLeft() {
        assertThat(Thread.interrupted()).isFalse();
        store.client.close().block(LIMIT);
    }

    private static LockOptions waiting(Duration limit) {
        return Store.OPTIONS.toBuilder().waitTimeout(limit).build();
    }

    /** Runs code on a thread of its own. */
    private static <T> CompletableFuture<T> elsewhere(Callable<T> code) {
        CompletableFuture<T> result = new CompletableFuture<>();
        new Thread(() -> {
                    try {
                        result.complete(code.call());
                    } catch (Throwable failure) {
                        result.completeExceptionally(failure);
                    }
                })
                .start();
        return result;
    }

    @Test
    void theWorkRunsOnTheThreadOfTheCallerUnderTheLock() throws Exception {
        Thread worker = lock.withLock(lease -> {
            assertThat(lease.isValid()).isTrue();
            assertThat(store.isHeld("a")).isTrue();
            return Thread.currentThread();
        });

        assertThat(worker).isSameAs(Thread.currentThread());
        assertThat(store.isHeld("a")).isFalse();
    }

    @Test
    void theResultMayBeNull() throws Exception {
        assertThat(lock.<String, RuntimeException>withLock(lease -> null)).isNull();
    }

    @Test
    void theCallerHandlesOnlyTheExceptionsOfTheWork() throws InterruptedException {
        String done = lock.withLock(lease -> "done");
        int held = store.locks
                .all(lock, store.locks.lock("b"))
                .withLock(leases -> leases.leases().size());
        String read;
        try {
            read = lock.withLock(this::full);
        } catch (IOException full) { // would not compile if the work threw none
            read = full.getMessage();
        }
        assertThat(done + " " + held + " " + read).isEqualTo("done 2 full");
    }

    private String full(LockLease lease) throws IOException {
        throw new IOException("full");
    }

    @Test
    void anExceptionOfTheWorkIsThrownAsItIs() {
        for (Throwable thrown : List.of(new IOException("full"), new IllegalStateException(), new AssertionError())) {
            assertThatThrownBy(() -> lock.withLock(lease -> {
                        if (thrown instanceof Exception checked) {
                            throw checked;
                        }
                        throw (Error) thrown;
                    }))
                    .isSameAs(thrown);
            assertThat(store.isHeld("a")).isFalse();
        }
    }

    @Test
    void aLeaseIsReleasedWhenItIsClosed() throws Exception {
        try (BlockingLease held = lock.acquire()) {
            assertThat(held.lease().fencingToken()).isPositive();
            assertThat(elsewhere(lock::tryAcquire).get()).isEmpty();
        }
        assertThat(store.isHeld("a")).isFalse();
        BlockingLease again = lock.tryAcquire().orElseThrow();
        again.close();
        again.close();
    }

    @Test
    void aLeaseMayBeClosedByAnotherThread() throws Exception {
        BlockingLease held = lock.acquire();
        elsewhere(() -> {
                    held.close();
                    return true;
                })
                .get();
        assertThat(store.isHeld("a")).isFalse();
        try (BlockingLease fresh = lock.acquire()) {
            assertThat(fresh.lease().fencingToken()).isGreaterThan(held.lease().fencingToken());
        }
    }

    @Test
    void theEndOfTheWaitIsAnErrorThatIsNotWrapped() throws Exception {
        LockLease rival = store.client.lock("a").acquire().block(LIMIT);
        BlockingLock impatient = lock.with(waiting(Duration.ofMillis(20)));

        assertThatThrownBy(impatient::acquire).isInstanceOf(LockTimeoutException.class);
        assertThatThrownBy(() -> impatient.withLock(lease -> 1)).isInstanceOf(LockTimeoutException.class);
        assertThat(lock.tryAcquire()).isEmpty();
        rival.release().block(LIMIT);
    }

    @Test
    void anInterruptWhileItWaitsWithdrawsTheClaim() throws Exception {
        LockLease rival = store.client.lock("a").acquire().block(LIMIT);
        for (boolean scoped : List.of(true, false)) {
            CompletableFuture<Thread> waiter = new CompletableFuture<>();
            CompletableFuture<Object> outcome = elsewhere(() -> {
                waiter.complete(Thread.currentThread());
                return scoped ? lock.withLock(lease -> 1) : lock.acquire();
            });
            store.awaitWaiters("a", 1);
            waiter.get().interrupt();
            assertThatThrownBy(outcome::get).hasCauseInstanceOf(InterruptedException.class);
            store.awaitWaiters("a", 0);
        }
        rival.release().block(LIMIT);
        assertThat(store.isHeld("a")).isFalse();
    }

    @Test
    void anInterruptedThreadSendsNothing() {
        for (int call = 0; call < 3; call++) {
            int which = call;
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> {
                        switch (which) {
                            case 0 -> lock.acquire().close();
                            case 1 -> lock.tryAcquire().orElseThrow().close();
                            default -> lock.withLock(lease -> 1);
                        }
                    })
                    .isInstanceOf(InterruptedException.class);
            assertThat(Thread.interrupted()).isFalse();
            assertThat(store.isHeld("a")).isFalse();
        }
    }

    @Test
    void aLossInterruptsTheWorkAndIsClearedBeforeTheReturn() {
        assertThatThrownBy(() -> lock.withLock(lease -> {
                    CompletableFuture<Void> loss = CompletableFuture.runAsync(() -> store.lose(lease));
                    new CompletableFuture<>().get(10, TimeUnit.SECONDS); // interrupted by the loss
                    return loss;
                }))
                .isInstanceOfSatisfying(LockLostException.class, lost -> {
                    assertThat(lost.lockName()).isEqualTo("a");
                    assertThat(lost.reason()).isEqualTo(LossReason.NOT_HELD);
                    assertThat(lost.getSuppressed()).hasAtLeastOneElementOfType(InterruptedException.class);
                });
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void workThatIgnoresItsLossDoesNotReturnAResult() {
        assertThatThrownBy(() -> lock.withLock(lease -> {
                    store.lose(lease);
                    assertThat(Thread.currentThread().isInterrupted()).isTrue();
                    return "unprotected";
                }))
                .isInstanceOf(LockLostException.class)
                .hasNoSuppressedExceptions();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void aLossAtAnyInstantOfTheWorkLeavesNoInterrupt() throws Exception {
        for (int round = 0; round < 2_000; round++) {
            CompletableFuture<LockLease> begun = new CompletableFuture<>();
            int steps = round % 200;
            CompletableFuture<Object> loss = elsewhere(() -> {
                LockLease lease = begun.get();
                for (int step = 0; step < steps; step++) {
                    Thread.onSpinWait();
                }
                store.takeAway(lease);
                return 1;
            });
            try {
                lock.withLock(lease -> {
                    begun.complete(lease);
                    return 1;
                });
            } catch (LockLostException lost) {
                // in some rounds
            }
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            loss.join();
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
        }
    }

    @Test
    void anInterruptThatWorkHasRestoredAfterALossIsClearedToo() {
        assertThatThrownBy(() -> lock.withLock(lease -> {
                    store.lose(lease);
                    try {
                        Thread.sleep(10_000);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    return 1;
                }))
                .isInstanceOf(LockLostException.class);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void anInterruptOfOtherCodeStaysPendingAfterALoss() {
        assertThatThrownBy(() -> lock.withLock(lease -> {
                    Thread worker = Thread.currentThread();
                    CompletableFuture<Integer> loss = elsewhere(() -> {
                        worker.interrupt();
                        store.lose(lease);
                        return 1;
                    });
                    while (!loss.isDone()) {
                        Thread.onSpinWait(); // most waits would take the interrupt away for a moment
                    }
                    return 1;
                }))
                .isInstanceOf(LockLostException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void anInterruptOfOtherCodeThatEndedLostWorkIsPendingAgain() {
        assertThatThrownBy(() -> lock.withLock(lease -> {
                    Thread worker = Thread.currentThread();
                    CompletableFuture<Integer> loss = elsewhere(() -> {
                        worker.interrupt();
                        store.lose(lease);
                        return 1;
                    });
                    while (!loss.isDone()) {
                        Thread.onSpinWait();
                    }
                    Thread.sleep(10_000);
                    return 1;
                }))
                .isInstanceOf(LockLostException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void anInterruptOfOtherCodeDuringAReleaseStaysPendingThoughALossFollows() {
        store.faulty.on(Operation.RELEASE).next(Fault.delayedReply(Duration.ofSeconds(1)));
        assertThatThrownBy(() -> lock.withLock(outer -> {
                    Thread worker = Thread.currentThread();
                    CompletableFuture<Integer> loss = new CompletableFuture<>();
                    store.locks.lock("b").withLock(inner -> {
                        CompletableFuture<Boolean> unused = elsewhere(() -> {
                            while (worker.getState() == Thread.State.RUNNABLE) {
                                Thread.onSpinWait(); // until it waits for the release of b
                            }
                            worker.interrupt();
                            while (worker.isInterrupted()) {
                                Thread.onSpinWait();
                            }
                            store.lose(outer);
                            return loss.complete(1);
                        });
                        return 1;
                    });
                    assertThat(loss).isDone();
                    return 1;
                }))
                .isInstanceOf(LockLostException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void anInterruptOfOtherCodeStaysPendingWithoutALoss() throws Exception {
        lock.withLock(lease -> {
            Thread.currentThread().interrupt();
            return 1;
        });
        assertThat(Thread.interrupted()).isTrue();

        BlockingLease held = lock.acquire();
        Thread.currentThread().interrupt();
        held.close();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(store.isHeld("a")).isFalse();
    }

    @Test
    void theInterruptedExceptionOfWorkIsItsOwn() {
        assertThatThrownBy(() -> lock.withLock(lease -> {
                    throw new InterruptedException("of the work");
                }))
                .isInstanceOf(InterruptedException.class)
                .hasMessage("of the work");
    }

    @Test
    void theEndOfTheClientIsALoss() {
        assertThatThrownBy(() -> lock.withLock(lease -> {
                    store.client.close().subscribe();
                    Thread.sleep(10_000);
                    return 1;
                }))
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        lost -> assertThat(lost.reason()).isEqualTo(LossReason.CLIENT_CLOSED));
        assertThatThrownBy(lock::acquire).isInstanceOf(LockClosedException.class);
    }

    @Test
    void theLossOfALeaseInterruptsNoThreadAndCloseThrowsIt() throws Exception {
        BlockingLease held = lock.acquire();
        store.lose(held.lease());
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(held.lease().isValid()).isFalse();
        assertThatThrownBy(lock::acquire).isInstanceOf(LockLostException.class);
        assertThatThrownBy(held::close).isInstanceOf(LockLostException.class);
        held.close();
        lock.acquire().close();
    }

    @Test
    void aThreadTakesItsLockAgainWithTheSameToken() throws Exception {
        try (BlockingLease outer = lock.acquire()) {
            long token = outer.lease().fencingToken();
            try (BlockingLease inner = lock.tryAcquire().orElseThrow()) {
                assertThat(inner.lease().fencingToken()).isEqualTo(token);
            }
            assertThat(lock.<Long, InterruptedException>withLock(lease -> lock.withLock(LockLease::fencingToken)))
                    .isEqualTo(token);
            assertThat(BlockingLocks.of(store.client)
                            .lock("a")
                            .<Long, RuntimeException>withLock(LockLease::fencingToken))
                    .isEqualTo(token);
            assertThat(outer.lease().isValid()).isTrue();
        }
        assertThat(store.isHeld("a")).isFalse();
        assertThat(lock.<Optional<BlockingLease>, Exception>withLock(
                        lease -> elsewhere(lock::tryAcquire).get()))
                .isEmpty();
    }

    @Test
    void aNestedLeaseEndsWithTheOutermost() throws Exception {
        BlockingLease outer = lock.acquire();
        BlockingLease inner = lock.acquire();
        outer.close();
        assertThat(inner.lease().isValid()).isFalse();
        assertThatThrownBy(inner::close).isInstanceOf(LockLostException.class);
    }

    @Test
    void anOptionCanForbidToTakeTheLockAgain() throws Exception {
        BlockingLock once = lock.with(Store.OPTIONS.toBuilder().reentrant(false).build());
        try (BlockingLease held = lock.acquire()) {
            assertThatThrownBy(once::acquire).isInstanceOf(IllegalStateException.class);
            assertThat(held.lease().isValid()).isTrue();
        }
    }

    @Test
    void aReaderCannotBecomeAWriterAndAWriterMayRead() throws Exception {
        BlockingReadWriteLock both = store.locks.readWriteLock("rw");
        both.writeLock().withLock(write -> {
            assertThat(both.readLock().<Long, RuntimeException>withLock(LockLease::fencingToken))
                    .isEqualTo(write.fencingToken());
            return both.writeLock().withLock(LockLease::fencingToken);
        });
        BlockingLease read = both.readLock().acquire();
        assertThatThrownBy(() -> both.writeLock().acquire()).isInstanceOf(IllegalStateException.class);
        CompletableFuture<Long> writer = elsewhere(() -> both.writeLock().withLock(LockLease::fencingToken));
        store.awaitWaiters("rw", 1);
        assertThat(both.readLock().<Long, RuntimeException>withLock(LockLease::fencingToken))
                .isEqualTo(read.lease().fencingToken());
        read.close();
        assertThat(writer.get()).isPositive();
    }

    @Test
    void permitsThatWorkWouldWaitForInItselfAreRefused() throws Exception {
        BlockingSemaphore semaphore = store.locks.semaphore("s", 3);
        semaphore.withLock(one -> semaphore.permits(2).withLock(two -> {
            assertThat(two.fencingToken()).isNotEqualTo(one.fencingToken());
            assertThatThrownBy(semaphore::acquire)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage(
                            "semaphore 's' has 3 permits, and work on this thread holds 3 of them: an acquisition of 1"
                                    + " inside that work would wait for itself; take all permits in one lease");
            assertThatThrownBy(() -> store.locks.all(lock, semaphore).withLock(leases -> 1))
                    .isInstanceOf(IllegalStateException.class);
            assertThat(semaphore.tryAcquire()).isEmpty();
            return 1;
        }));
    }

    @Test
    void permitsOfALeaseMayBeReturnedByAnotherThread() throws Exception {
        BlockingSemaphore one = store.locks.semaphore("s", 1);
        BlockingLease first = one.acquire();
        Thread submitting = Thread.currentThread();
        CompletableFuture<Object> done = elsewhere(() -> {
            store.awaitWaiters("s", 1);
            assertThat(submitting.isAlive()).isTrue();
            first.close();
            return 1;
        });
        one.acquire().close();
        assertThat(done.get()).isEqualTo(1);
    }

    @Test
    void severalLocksAreTakenTogetherAndNestInOneAnother() throws Exception {
        BlockingMultiLock both = store.locks.all(store.locks.lock("b"), lock);
        assertThat(both.names()).containsExactly("a", "b");
        try (BlockingLease a = lock.acquire();
                BlockingMultiLease ab = both.acquire()) {
            assertThat(ab.leases().lease("a").fencingToken())
                    .isEqualTo(a.lease().fencingToken());
            assertThat(store.locks.lock("b").<Long, RuntimeException>withLock(LockLease::fencingToken))
                    .isEqualTo(ab.leases().lease("b").fencingToken());
        }
        assertThat(both.<Long, InterruptedException>withLock(leases ->
                        lock.withLock(a -> a.fencingToken() - leases.lease("a").fencingToken())))
                .isZero();
        try (BlockingLease b = store.locks.lock("b").acquire()) {
            assertThat(elsewhere(both::tryAcquire).get()).isEmpty();
            assertThat(b.lease().isValid()).isTrue();
        }
        assertThat(store.isHeld("a")).isFalse();
    }

    @Test
    void theLossOfOneOfSeveralInterruptsTheWork() {
        assertThatThrownBy(() -> store.locks.all(lock, store.locks.lock("b")).withLock(leases -> {
                    store.lose(leases.lease("b"));
                    Thread.sleep(10_000);
                    return 1;
                }))
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        lost -> assertThat(lost.lockName()).isEqualTo("b"));
    }

    @Test
    void theLossOfAnInnerLockLeavesTheOuterWorkAlone() throws Exception {
        String outcome = lock.withLock(outer -> {
            assertThatThrownBy(() -> store.locks.lock("b").withLock(inner -> {
                        store.lose(inner);
                        Thread.sleep(10_000);
                        return 1;
                    }))
                    .isInstanceOf(LockLostException.class);
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            return outer.isValid() ? "valid" : "lost";
        });
        assertThat(outcome).isEqualTo("valid");
    }

    @Test
    void theLossOfAnOuterLockReachesTheWorkInside() {
        assertThatThrownBy(() -> lock.withLock(outer -> store.locks.lock("b").withLock(inner -> {
                    store.lose(outer);
                    Thread.sleep(10_000);
                    return 1;
                })))
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        lost -> assertThat(lost.lockName()).isEqualTo("a"));
    }

    @Test
    void theLossOfAnOuterLockIsToldAlthoughTheInnerOneHasClearedItsOwn() {
        AtomicBoolean isInterrupted = new AtomicBoolean();
        assertThatThrownBy(() -> lock.withLock(outer -> {
                    assertThatThrownBy(() -> store.locks.lock("b").withLock(inner -> {
                                store.lose(inner);
                                store.lose(outer);
                                Thread.sleep(10_000);
                                return 1;
                            }))
                            .isInstanceOf(LockLostException.class);
                    isInterrupted.set(Thread.currentThread().isInterrupted());
                    return 1;
                }))
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        lost -> assertThat(lost.lockName()).isEqualTo("a"));
        assertThat(isInterrupted).isTrue();
    }

    /** The thread may still sleep when the lease that it waited for is lost. */
    @Test
    void workThatWasLostBeforeItBeganDoesNotBegin() {
        HeldByThread held = HeldByThread.current();
        Work<String> work = new Work<>(held, List.of(), (lease, context) -> context);
        work.under("lease").subscribe().dispose();

        assertThat(held.begin(work)).isFalse();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void aWaitInsideLostWorkEnds() throws Exception {
        LockLease rival = store.client.lock("b").acquire().block(LIMIT);
        assertThatThrownBy(() -> lock.withLock(outer -> {
                    CompletableFuture<Object> loss = elsewhere(() -> {
                        store.awaitWaiters("b", 1);
                        store.lose(outer);
                        return 1;
                    });
                    store.locks.lock("b").acquire().close();
                    return loss;
                }))
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        lost -> assertThat(lost.lockName()).isEqualTo("a"));
        store.awaitWaiters("b", 0);
        rival.release().block(LIMIT);
    }

    /** As without the blocking interface: the client finds a lease that is garbage. */
    @Test
    void aLeaseThatIsDroppedIsReleased() throws Exception {
        LockOptions brief =
                LockOptions.builder().leaseDuration(Duration.ofMillis(600)).build();
        LockClient hasty = LockClient.builder(store.backend)
                .options(brief)
                .closeBackend(false)
                .build();
        assertThat(BlockingLocks.of(hasty).lock("dropped").tryAcquire()).isPresent();
        for (int i = 0; i < 100 && store.isHeld("dropped"); i++) {
            System.gc();
            TimeUnit.MILLISECONDS.sleep(50); // the lease would be renewed for ever
        }
        assertThat(store.isHeld("dropped")).isFalse();
        hasty.close().block(LIMIT);
    }

    @Test
    void workMayTakeMoreLocksWhileTheClientIsDrained() throws Exception {
        try (BlockingLease held = lock.acquire()) {
            store.client.drain().subscribe();
            assertThat(store.locks.lock("b").<Long, RuntimeException>withLock(LockLease::fencingToken))
                    .isPositive();
            assertThat(held.lease().isValid()).isTrue();
        }
        assertThatThrownBy(lock::acquire).isInstanceOf(LockClosedException.class);
    }

    @Test
    void aLockOfAnotherMakerIsRefused() {
        assertThatThrownBy(() -> store.locks.all(lock, new Store().locks.lock("x")))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
