package io.holdfast.vertx;

import static io.holdfast.vertx.Island.done;
import static io.holdfast.vertx.Island.failed;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockEvent;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Hooks;

class VertxLeaseTest {

    private static final Duration LEASE = Duration.ofSeconds(10);

    @RegisterExtension
    final Island island = new Island();

    /** Does not renew, so that passing time causes a loss. */
    private final VertxLock lock = island.locks
            .lock("job")
            .with(LockOptions.builder().leaseDuration(LEASE).autoRenew(false).build());

    @Test
    void aLeaseReportsItsState() {
        VertxLease lease = done(island.call(lock::acquire));
        assertThat(lease.lockName()).isEqualTo("job");
        assertThat(lease.fencingToken()).isPositive();
        assertThat(lease.isValid()).isTrue();
        assertThat(lease.remaining()).isPositive().isLessThan(LEASE);
        island.pass(LEASE.dividedBy(2));
        done(island.call(lease::renew));
        island.pass(LEASE.dividedBy(2));
        assertThat(lease.isValid()).isTrue();
        done(island.call(lease::release));
        done(island.call(lease::release));
        assertThat(lease.isValid()).isFalse();
        assertThat(island.store.contents()).isEmpty();
    }

    @Test
    void releaseAndRenewalAfterALossFail() {
        VertxLease lease = done(island.call(lock::acquire));
        island.pass(LEASE);
        assertThat(failed(island.call(lease::renew))).isInstanceOf(LockLostException.class);
        assertThat(failed(island.call(lease::release))).isInstanceOf(LockLostException.class);
    }

    @Test
    void aLossIsSignalledOnceOnTheContextOfEachListener() {
        VertxLease lease = done(island.call(lock::acquire));
        Queue<Map.Entry<LossReason, Context>> calls = new ConcurrentLinkedQueue<>();
        Context other = island.vertx.getOrCreateContext();
        listen(lease, island.context, calls);
        listen(lease, other, calls);
        island.pass(LEASE);
        island.until("both listeners were called", () -> calls.size() == 2);
        assertThat(calls)
                .containsExactlyInAnyOrder(
                        Map.entry(LossReason.EXPIRED, island.context), Map.entry(LossReason.EXPIRED, other));
        listen(lease, island.context, calls);
        island.until("the late listener was called", () -> calls.size() == 3);
        island.pass(LEASE);
        island.settle();
        assertThat(calls).hasSize(3);
    }

    @Test
    void aReleasedLeaseSignalsNoLoss() {
        VertxLease lease = done(island.call(lock::acquire));
        Queue<Map.Entry<LossReason, Context>> calls = new ConcurrentLinkedQueue<>();
        listen(lease, island.context, calls);
        done(island.call(lease::release));
        island.pass(LEASE);
        island.settle();
        assertThat(calls).isEmpty();
    }

    @Test
    void exceptionOfALossHandlerGoesToTheExceptionHandlerOfItsContext() {
        IllegalStateException broken = new IllegalStateException("broken");
        Queue<Throwable> calls = new ConcurrentLinkedQueue<>();
        island.context.exceptionHandler(calls::add);
        VertxLease lease = done(island.call(lock::acquire));
        CompletableFuture<Void> listens = island.call(() -> {
            lease.onLoss(reason -> {
                throw broken;
            });
            return Future.succeededFuture();
        });
        done(listens);
        island.pass(LEASE);
        island.until("the exception handler was called", () -> !calls.isEmpty());
        assertThat(calls).containsExactly(broken);
    }

    private void listen(VertxLease lease, Context context, Queue<Map.Entry<LossReason, Context>> calls) {
        CompletableFuture<Void> listens = new CompletableFuture<>();
        context.runOnContext(unused -> {
            lease.onLoss(reason -> calls.add(Map.entry(reason, Vertx.currentContext())));
            listens.complete(null);
        });
        done(listens);
    }

    @Test
    void aLossFailsTheResultAtOnceAndOnlyTheWorksOwnHandlersGetItsResult() {
        Promise<String> end = Promise.promise();
        AtomicInteger handled = new AtomicInteger();
        Queue<Throwable> dropped = new ConcurrentLinkedQueue<>();
        Hooks.onErrorDropped(dropped::add);
        try {
            CompletableFuture<String> result =
                    island.call(() -> lock.withLock(lease -> end.future().onFailure(e -> handled.incrementAndGet())));
            island.settle();
            island.pass(LEASE);
            assertThat(failed(result)).isInstanceOf(LockLostException.class);
            end.fail("the store refused the token");
            island.settle();
            assertThat(handled).hasValue(1);
            assertThat(dropped).isEmpty();
        } finally {
            Hooks.resetOnErrorDropped();
        }
    }

    @Test
    void aLossBetweenGrantAndTurnPreventsTheWork() {
        AtomicInteger works = new AtomicInteger();
        CompletableFuture<Integer> result = island.call(() -> {
            Future<Integer> work = lock.withLock(lease -> Future.succeededFuture(works.incrementAndGet()));
            island.pass(LEASE); // granted during the call, and lost before the next task of the context
            return work;
        });
        assertThat(failed(result)).isInstanceOf(LockLostException.class);
        island.settle();
        assertThat(works).hasValue(0);
    }

    @Test
    void aDroppedLeaseIsFoundAndReleasedAlthoughItsEventLives() {
        VertxLock renewed = island.locks.lock("dropped");
        Promise<Void> shutdown = Promise.promise();
        assertThat(done(island.call(
                        () -> renewed.giveUpWhen(shutdown.future()).acquire().map(VertxLease::isValid))))
                .isTrue();
        island.settle();
        collectGarbage();
        island.until("the dropped lease was found", () -> {
            collectGarbage();
            island.pass(Duration.ofSeconds(10));
            return island.events.stream().anyMatch(LockEvent.LeaseAbandoned.class::isInstance);
        });
        assertThat(island.store.contents()).isEmpty();
        assertThat(shutdown.tryComplete()).isTrue();
    }

    private static void collectGarbage() {
        WeakReference<Object> witness = new WeakReference<>(new Object());
        for (int i = 0; i < 50 && witness.get() != null; i++) {
            System.gc();
        }
    }
}
