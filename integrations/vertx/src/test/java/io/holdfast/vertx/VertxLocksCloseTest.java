package io.holdfast.vertx;

import static io.holdfast.vertx.Island.done;
import static io.holdfast.vertx.Island.failed;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClosedException;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class VertxLocksCloseTest {

    private static final String NAME = "customer/1";

    @RegisterExtension
    final Island island = new Island();

    private final VertxLock lock = island.locks.lock(NAME);

    @Test
    void closingEndsWaitsAndTheNextWaiterGetsTheLock() {
        LockLease rival = island.rivalHolds(NAME);
        CompletableFuture<VertxLease> first = island.call(lock::acquire);
        CompletableFuture<Void> second = island.call(() -> lock.withLock(lease -> Future.succeededFuture()));
        island.settle();
        done(island.call(island.locks::close));
        assertThat(failed(first)).isInstanceOf(LockClosedException.class);
        assertThat(failed(second)).isInstanceOf(LockClosedException.class);
        CompletableFuture<LockLease> other = island.client.lock(NAME).acquire().toFuture();
        island.release(rival);
        island.release(done(other));
    }

    @Test
    void afterClosingNothingBegins() {
        done(island.call(island.locks::close));
        assertThat(failed(island.call(lock::acquire))).isInstanceOf(LockClosedException.class);
        assertThat(failed(island.call(lock::tryAcquire))).isInstanceOf(LockClosedException.class);
        assertThat(failed(island.call(() -> lock.withLock(lease -> Future.succeededFuture()))))
                .isInstanceOf(LockClosedException.class);
        assertThat(island.events).isEmpty();
        done(island.call(island.locks::close));
    }

    @Test
    void closingReleasesLeasesAndLeavesTheClientOpen() {
        VertxLease lease = done(island.call(lock::acquire));
        VertxLease tried =
                done(island.call(island.locks.lock("other")::tryAcquire)).orElseThrow();
        done(island.call(island.locks::close));
        assertThat(lease.isValid()).isFalse();
        assertThat(tried.isValid()).isFalse();
        assertThat(island.store.contents()).isEmpty();
        island.release(island.rivalHolds(NAME));
    }

    /** Work cannot be stopped, and must not continue without its lock. */
    @Test
    void closingWaitsForTheWorkThatHasBegun() {
        Promise<String> end = Promise.promise();
        CompletableFuture<String> result = island.call(() -> lock.withLock(lease -> end.future()));
        island.settle();
        CompletableFuture<Void> closed = island.call(island.locks::close);
        island.settle();
        assertThat(closed).isNotDone();
        assertThat(island.client.lock(NAME).tryAcquire().toFuture()).isCompletedWithValue(null);
        end.complete("result");
        assertThat(done(result)).isEqualTo("result");
        done(closed);
        assertThat(island.store.contents()).isEmpty();
    }

    /** The work continues and uses its verticle, so the verticle must still be deployed. */
    @Test
    void closingWaitsForTheWorkThatHasLostItsLock() {
        Duration leaseDuration = Duration.ofSeconds(10);
        VertxLock unrenewed = lock.with(LockOptions.builder()
                .leaseDuration(leaseDuration)
                .autoRenew(false)
                .build());
        Promise<String> end = Promise.promise();
        CompletableFuture<String> result = island.call(() -> unrenewed.withLock(lease -> end.future()));
        island.settle();
        island.pass(leaseDuration);
        assertThat(failed(result)).isInstanceOf(LockLostException.class);
        CompletableFuture<Void> closed = island.call(island.locks::close);
        island.settle();
        assertThat(closed).isNotDone();
        end.complete("result");
        done(closed);
    }

    @Test
    void closingCompletesAfterTheResultOfTheLastWork() {
        Promise<String> end = Promise.promise();
        Queue<String> calls = new ConcurrentLinkedQueue<>();
        CompletableFuture<String> result =
                island.call(() -> lock.withLock(lease -> end.future()).onSuccess(unused -> calls.add("result")));
        island.settle();
        CompletableFuture<Void> closed =
                island.call(() -> island.locks.close().onSuccess(unused -> calls.add("closed")));
        island.settle();
        end.complete("result");
        done(result);
        done(closed);
        assertThat(calls).containsExactly("result", "closed");
    }

    @Test
    void otherViewsOfTheClientAreLeftAlone() {
        LockLease rival = island.rivalHolds(NAME);
        CompletableFuture<Integer> other = island.call(() ->
                VertxLocks.of(island.client, island.vertx).lock(NAME).withLock(lease -> Future.succeededFuture(1)));
        island.settle();
        done(island.call(island.locks::close));
        island.release(rival);
        island.until("the other view got the lock", other::isDone);
        assertThat(done(other)).isEqualTo(1);
    }

    @Test
    void anUndeployedVerticleLeavesTheQueue() {
        LockLease rival = island.rivalHolds(NAME);
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        String deployment = done(island.vertx.deployVerticle(new VerticleBase() {

            private VertxLocks locks;

            @Override
            public Future<?> start() {
                locks = VertxLocks.of(island.client, vertx);
                locks.lock(NAME).acquire().onFailure(failures::add);
                return Future.succeededFuture();
            }

            @Override
            public Future<?> stop() {
                return locks.close();
            }
        }));
        CompletableFuture<LockLease> next = island.client.lock(NAME).acquire().toFuture();
        done(island.vertx.undeploy(deployment));
        assertThat(failures).hasSize(1).first().isInstanceOf(LockClosedException.class);
        island.release(rival);
        island.release(done(next));
    }

    @Test
    void aVerticleMayTakeALockWhileItStarts() {
        String deployment = done(island.vertx.deployVerticle(context ->
                VertxLocks.of(island.client, island.vertx).lock(NAME).withLock(lease -> Future.succeededFuture())));
        done(island.vertx.undeploy(deployment));
    }

    /** No thread is left that could call a handler. */
    @Test
    void aLockGrantedAfterTheEndOfVertxIsReleased() {
        LockLease rival = island.rivalHolds(NAME);
        LockLease otherRival = island.rivalHolds("other");
        Vertx shortLived = Vertx.vertx();
        Context context = shortLived.getOrCreateContext();
        VertxLocks locks = VertxLocks.of(island.client, shortLived);
        CompletableFuture<Void> asked = new CompletableFuture<>();
        context.runOnContext(unused -> {
            Future<VertxLease> unusedLease = locks.lock(NAME).acquire();
            Future<Integer> unusedWork = locks.lock("other").withLock(lease -> Future.succeededFuture(1));
            asked.complete(null);
        });
        done(asked);
        done(shortLived.close());
        island.release(rival);
        island.release(otherRival);
        island.until("the lock is released", () -> island.store.contents().isEmpty());
    }
}
