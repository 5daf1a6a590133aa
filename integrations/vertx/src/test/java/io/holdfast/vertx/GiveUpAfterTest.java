package io.holdfast.vertx;

import static io.holdfast.vertx.Island.done;
import static io.holdfast.vertx.Island.failed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockLease;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A wait that ends in time leaves nothing behind, unlike a future that is timed out. */
class GiveUpAfterTest {

    private static final String NAME = "customer/1";
    private static final Duration SOON = Duration.ofMillis(30);

    @RegisterExtension
    final Island island = new Island();

    private final VertxLock lock = island.locks.lock(NAME);

    @Test
    void aWaitThatIsGivenUpLeavesTheQueue() {
        LockLease rival = island.rivalHolds(NAME);
        CompletableFuture<VertxLease> wait =
                island.call(() -> lock.giveUpAfter(SOON).acquire());
        assertThat(failed(wait))
                .isInstanceOf(CancellationException.class)
                .hasMessageContaining("the wait for lock '%s' was given up".formatted(NAME));
        island.release(rival);
        island.settle();
        assertThat(island.store.contents()).isEmpty();
    }

    @Test
    void workThatIsGivenUpIsNotCalled() {
        LockLease rival = island.rivalHolds(NAME);
        CompletableFuture<Void> work = island.call(() -> lock.giveUpAfter(SOON).withLock(lease -> {
            throw new AssertionError("called");
        }));
        assertThat(failed(work)).isInstanceOf(CancellationException.class);
        island.release(rival);
    }

    @Test
    void theTimeEndsWithTheWait() {
        CompletableFuture<VertxLease> wait =
                island.call(() -> lock.giveUpAfter(SOON).acquire());
        VertxLease lease = done(wait);
        done(island.vertx.timer(SOON.toMillis() * 2, TimeUnit.MILLISECONDS));
        assertThat(lease.isValid()).isTrue();
        done(island.call(lease::release));
        island.pass();
    }

    /** The documentation warns of this. */
    @Test
    void aTimedOutFutureStillGetsItsLease() {
        LockLease rival = island.rivalHolds(NAME);
        CompletableFuture<VertxLease> result = new CompletableFuture<>();
        CompletableFuture<VertxLease> late = new CompletableFuture<>();
        island.context.runOnContext(unused -> {
            Future<VertxLease> acquired = lock.acquire().onSuccess(late::complete);
            acquired.timeout(SOON.toMillis(), TimeUnit.MILLISECONDS)
                    .onComplete(result::complete, result::completeExceptionally);
        });
        assertThat(failed(result)).isInstanceOf(TimeoutException.class);
        island.release(rival);
        VertxLease lease = done(late);
        assertThat(lease.isValid()).isTrue();
        done(island.call(lease::release));
        island.pass();
    }

    @Test
    void lessThanAMillisecondIsRefused() {
        assertThatThrownBy(() -> lock.giveUpAfter(Duration.ZERO)).isInstanceOf(IllegalArgumentException.class);
    }
}
