package io.holdfast.vertx;

import static io.holdfast.vertx.Island.done;
import static io.holdfast.vertx.Island.failed;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClosedException;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class VertxLocksDrainTest {

    private static final String NAME = "customer/1";

    @RegisterExtension
    final Island island = new Island();

    private final VertxLock lock = island.locks.lock(NAME);

    @Test
    void waitsEndAndLeasesGoOnUntilTheyAreReleased() {
        VertxLease lease = done(island.call(lock::acquire));
        CompletableFuture<VertxLease> waiting = island.call(lock::acquire);
        island.settle();

        CompletableFuture<Void> drained = island.call(island.locks::drain);

        assertThat(failed(waiting)).isInstanceOf(LockClosedException.class);
        assertThat(failed(island.call(lock::tryAcquire))).isInstanceOf(LockClosedException.class);
        island.pass(Duration.ofMinutes(2)); // renewed
        island.settle();
        assertThat(lease.isValid()).isTrue();
        assertThat(drained).isNotDone();
        done(island.call(lease::release));
        done(drained);
        done(island.call(island.locks::drain));
    }

    @Test
    void theDrainWaitsForTheWorkThatHasBegunAndForItsResult() {
        Promise<String> end = Promise.promise();
        CompletableFuture<String> result = island.call(() -> lock.withLock(lease -> end.future()));
        island.settle();
        CompletableFuture<Void> drained = island.call(island.locks::drain);
        CompletableFuture<Void> again = island.call(island.locks::drain);
        island.settle();
        assertThat(drained).isNotDone();

        end.complete("result");

        done(drained);
        done(again);
        assertThat(result).isCompletedWithValue("result");
    }

    @Test
    void aLostLeaseDoesNotHoldUpTheDrain() {
        Duration duration = Duration.ofSeconds(10);
        done(island.call(lock.with(
                LockOptions.builder().leaseDuration(duration).autoRenew(false).build())::acquire));
        CompletableFuture<Void> drained = island.call(island.locks::drain);
        island.settle();
        assertThat(drained).isNotDone();

        island.pass(duration);

        done(drained);
    }

    @Test
    void closingReleasesTheLeasesAndEndsTheDrain() {
        VertxLease lease = done(island.call(lock::acquire));
        CompletableFuture<Void> drained = island.call(island.locks::drain);
        island.settle();
        assertThat(drained).isNotDone();

        done(island.call(island.locks::close));

        done(drained);
        assertThat(lease.isValid()).isFalse();
        assertThat(island.store.contents()).isEmpty();
    }

    @Test
    void otherViewsOfTheClientAreLeftAlone() {
        LockLease rival = island.rivalHolds(NAME);
        CompletableFuture<Integer> other = island.call(() ->
                VertxLocks.of(island.client, island.vertx).lock(NAME).withLock(lease -> Future.succeededFuture(1)));
        island.settle();

        done(island.call(island.locks::drain));

        island.release(rival);
        island.until("the other view got the lock", other::isDone);
        assertThat(done(other)).isEqualTo(1);
    }
}
