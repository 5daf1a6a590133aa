package io.holdfast.vertx;

import static io.holdfast.vertx.Island.done;
import static io.holdfast.vertx.Island.failed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.ReactiveReadWriteLock;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class VertxLockTest {

    private static final String NAME = "customer/1";

    @RegisterExtension
    final Island island = new Island();

    private final VertxLock lock = island.locks.lock(NAME);

    @Test
    void theAcquisitionBeginsWithTheCall() {
        CompletableFuture<Boolean> held = island.call(() -> {
            Future<VertxLease> unused = lock.acquire();
            return Future.succeededFuture(!island.store.contents().isEmpty());
        });
        assertThat(done(held)).isTrue();
    }

    @Test
    void resultsComeOnTheContextOfTheCaller() {
        LockLease rival = island.rivalHolds(NAME);
        Queue<Context> seen = new ConcurrentLinkedQueue<>();
        CompletableFuture<Integer> result = island.call(() -> lock.acquire()
                .compose(lease -> {
                    seen.add(Vertx.currentContext());
                    return lease.renew().compose(renewed -> {
                        seen.add(Vertx.currentContext());
                        return lease.release();
                    });
                })
                .compose(released -> {
                    seen.add(Vertx.currentContext());
                    return lock.tryAcquire();
                })
                .compose(lease -> {
                    seen.add(Vertx.currentContext());
                    return lease.orElseThrow().release();
                })
                .compose(released -> lock.withLock(lease -> {
                    seen.add(Vertx.currentContext());
                    return Future.succeededFuture(7);
                }))
                .onSuccess(seven -> seen.add(Vertx.currentContext())));
        island.settle();
        island.release(rival);
        assertThat(done(result)).isEqualTo(7);
        assertThat(seen).hasSize(6).containsOnly(island.context);
    }

    @Test
    void failuresComeOnTheContextOfTheCaller() {
        LockLease rival = island.rivalHolds(NAME);
        Queue<Context> seen = new ConcurrentLinkedQueue<>();
        CompletableFuture<VertxLease> result = island.call(
                () -> waiting(Duration.ofSeconds(1)).acquire().onFailure(e -> seen.add(Vertx.currentContext())));
        island.settle();
        island.pass(Duration.ofSeconds(1));
        assertThat(failed(result)).isInstanceOf(LockTimeoutException.class);
        assertThat(seen).containsExactly(island.context);
        island.release(rival);
    }

    /** The data that an HTTP request carries, such as its trace, stays with it. */
    @Test
    void duplicatedContextsAreKept() {
        LockLease rival = island.rivalHolds(NAME);
        Context duplicate = ((ContextInternal) island.context).duplicate();
        CompletableFuture<List<Context>> seen = island.on(
                duplicate,
                () -> lock.withLock(lease -> Future.succeededFuture(Vertx.currentContext()))
                        .map(inside -> List.of(inside, Vertx.currentContext())));
        island.settle();
        island.release(rival);
        assertThat(done(seen)).containsExactly(duplicate, duplicate);
    }

    @Test
    void aWorkerContextIsKeptToo() {
        Context worker = ((VertxInternal) island.vertx).createWorkerContext();
        CompletableFuture<List<Boolean>> onWorker = island.on(
                worker,
                () -> lock.withLock(lease -> Future.succeededFuture(Context.isOnWorkerThread()))
                        .map(inside -> List.of(inside, Context.isOnWorkerThread())));
        assertThat(done(onWorker)).containsExactly(true, true);
    }

    @Test
    void threadsOutsideOfVertxMayCallToo() {
        Future<Boolean> onEventLoop = lock.withLock(lease -> Future.succeededFuture(Context.isOnEventLoopThread()));
        assertThat(done(onEventLoop)).isTrue();
    }

    @Test
    void tryAcquireOfAHeldLockIsEmptyAndLeavesNothing() {
        LockLease rival = island.rivalHolds(NAME);
        assertThat(done(island.call(lock::tryAcquire))).isEmpty();
        island.release(rival);
        assertThat(island.store.contents()).isEmpty();
    }

    @Test
    void waitersAreServedInOrderWithRisingTokens() {
        LockLease rival = island.rivalHolds(NAME);
        Queue<Long> tokens = new ConcurrentLinkedQueue<>();
        List<CompletableFuture<Long>> waiting = IntStream.range(0, 5)
                .mapToObj(i -> island.call(() -> lock.withLock(lease -> {
                    tokens.add(lease.fencingToken());
                    return Future.succeededFuture(lease.fencingToken());
                })))
                .toList();
        island.settle();
        island.release(rival);
        island.until("all waiters got the lock", () -> waiting.stream().allMatch(CompletableFuture::isDone));
        assertThat(List.copyOf(tokens))
                .isSorted()
                .doesNotHaveDuplicates()
                .hasSize(5)
                .allMatch(it -> it > rival.fencingToken());
        assertThat(waiting.stream().map(CompletableFuture::join)).containsExactlyElementsOf(tokens);
    }

    @Test
    void otherKindsOfLocksComeFromTheClient() {
        ReactiveReadWriteLock prices = island.client.readWriteLock("prices");
        VertxLock reading = island.locks.lock(prices.readLock());
        VertxLock writing = island.locks.lock(prices.writeLock());
        CompletableFuture<Optional<VertxLease>> writer =
                island.call(() -> reading.withLock(one -> reading.withLock(two -> writing.tryAcquire())));
        assertThat(done(writer)).isEmpty();
        assertThat(reading.name()).isEqualTo("prices");
    }

    @Test
    void theLockIsReleasedAfterEachEndOfTheWork() {
        IllegalStateException broken = new IllegalStateException("broken");
        assertThat(done(island.call(() -> lock.<Void>withLock(lease -> Future.succeededFuture()))))
                .isNull();
        assertThat(island.store.contents()).isEmpty();
        assertThat(failed(island.call(() -> lock.withLock(lease -> Future.failedFuture(broken)))))
                .isSameAs(broken);
        assertThat(island.store.contents()).isEmpty();
        assertThat(failed(island.call(() -> lock.withLock(lease -> {
                    throw broken;
                }))))
                .isSameAs(broken);
        assertThat(island.store.contents()).isEmpty();
        assertThat(failed(island.call(() -> lock.withLock(lease -> null)))).hasMessageContaining("returned no future");
        assertThat(island.store.contents()).isEmpty();
    }

    @Test
    void theLockIsHeldUntilTheFutureOfTheWorkIsDone() {
        Promise<String> end = Promise.promise();
        CompletableFuture<String> result = island.call(() -> lock.withLock(lease -> end.future()));
        island.settle();
        assertThat(done(island.call(lock::tryAcquire))).isEmpty();
        end.complete("result");
        assertThat(done(result)).isEqualTo("result");
        assertThat(island.store.contents()).isEmpty();
    }

    @Test
    void waitTimeoutEndsTheWaitAndLeavesTheQueue() {
        LockLease rival = island.rivalHolds(NAME);
        AtomicInteger works = new AtomicInteger();
        CompletableFuture<Integer> result = island.call(() ->
                waiting(Duration.ofSeconds(3)).withLock(lease -> Future.succeededFuture(works.incrementAndGet())));
        island.settle();
        island.pass(Duration.ofSeconds(3));
        assertThat(failed(result)).isInstanceOf(LockTimeoutException.class);
        island.release(rival);
        assertThat(island.store.contents()).isEmpty();
        assertThat(works).hasValue(0);
    }

    @Test
    void failureOfTheBackEndFailsTheFuture() {
        done(island.store.close().toFuture());
        assertThat(failed(island.call(lock::acquire))).isInstanceOf(LockBackendException.class);
    }

    @Test
    void aWaitThatIsGivenUpLeavesTheQueueAtOnce() {
        LockLease rival = island.rivalHolds(NAME);
        Promise<Void> left = Promise.promise();
        CompletableFuture<VertxLease> first =
                island.call(() -> lock.giveUpWhen(left.future()).acquire());
        island.settle();
        CompletableFuture<Long> second =
                island.call(() -> lock.withLock(lease -> Future.succeededFuture(lease.fencingToken())));
        island.settle();
        left.fail("the client has left");
        assertThat(failed(first)).isInstanceOf(CancellationException.class).hasMessageContaining(NAME);
        island.release(rival);
        island.until("the next waiter got the lock", second::isDone);
        assertThat(done(second)).isGreaterThan(rival.fencingToken());
    }

    @Test
    void aCallGivenUpBeforehandNeverBegins() {
        AtomicInteger works = new AtomicInteger();
        CompletableFuture<Integer> result = island.call(() -> lock.giveUpWhen(Future.succeededFuture())
                .withLock(lease -> Future.succeededFuture(works.incrementAndGet())));
        assertThat(failed(result)).isInstanceOf(CancellationException.class);
        assertThat(island.events).isEmpty();
        assertThat(works).hasValue(0);
    }

    /** Work cannot be stopped, so it must keep its lock. */
    @Test
    void givingUpAfterTheWorkHasBegunChangesNothing() {
        Promise<Void> left = Promise.promise();
        Promise<String> end = Promise.promise();
        CompletableFuture<String> result =
                island.call(() -> lock.giveUpWhen(left.future()).withLock(lease -> end.future()));
        CompletableFuture<VertxLease> lease = island.call(
                () -> island.locks.lock("other").giveUpWhen(left.future()).acquire());
        done(lease);
        left.complete();
        assertThat(done(island.call(lock::tryAcquire))).isEmpty();
        assertThat(done(lease).isValid()).isTrue();
        end.complete("result");
        assertThat(done(result)).isEqualTo("result");
        done(done(lease).release());
    }

    /** The free lock is granted during the call, and the turn is a task of its own on the context. */
    @Test
    void aGrantAfterGivingUpIsReleased() {
        Promise<Void> left = Promise.promise();
        AtomicInteger works = new AtomicInteger();
        CompletableFuture<Void> result = island.call(() -> {
            Future<VertxLease> lease = lock.giveUpWhen(left.future()).acquire();
            Future<Integer> work = island.locks
                    .lock("other")
                    .giveUpWhen(left.future())
                    .withLock(it -> Future.succeededFuture(works.incrementAndGet()));
            left.complete();
            return Future.join(lease, work).mapEmpty();
        });
        assertThat(failed(result)).isInstanceOf(CancellationException.class);
        island.settle();
        island.pass();
        assertThat(island.store.contents()).isEmpty();
        assertThat(works).hasValue(0);
    }

    @Test
    void optionsComeFromTheLock() {
        assertThatThrownBy(() -> island.locks.lock(" ")).isInstanceOf(IllegalArgumentException.class);
        LockClient quick = LockClient.builder(island.store)
                .operationTimeout(Duration.ofSeconds(1))
                .closeBackend(false)
                .build();
        assertThatThrownBy(() -> VertxLocks.of(quick, island.vertx)
                        .lock(NAME)
                        .with(LockOptions.builder()
                                .leaseDuration(Duration.ofSeconds(2))
                                .build()))
                .isInstanceOf(IllegalArgumentException.class);
        done(quick.close().toFuture());
    }

    /** The Reactor Context does not pass through futures. A context of Vert.x cannot be the owner either: many requests share one. */
    @Test
    void aSecondAcquisitionByTheHolderWaits() {
        CompletableFuture<Boolean> result = island.call(() -> lock.withLock(outer -> waiting(Duration.ofSeconds(1))
                .acquire()
                .map(inner -> false)
                .otherwise(e -> e instanceof LockTimeoutException)));
        island.settle();
        island.until(
                "the second acquisition waits", () -> island.store.contents().size() > 2);
        island.pass(Duration.ofSeconds(1));
        assertThat(done(result)).isTrue();
    }

    private VertxLock waiting(Duration limit) {
        return lock.with(LockOptions.builder().waitTimeout(limit).build());
    }
}
