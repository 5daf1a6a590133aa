package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static io.holdfast.redis.ClientOverRedis.pause;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

/** How a holder learns that its key is gone or its server is unreachable. */
class HolderLossIT {

    private static final Duration LEASE = Duration.ofMillis(1500);
    private static final Duration SLACK = Duration.ofSeconds(3);

    @RegisterExtension
    final ClientOverRedis redis = new ClientOverRedis(options -> options.leaseDuration(LEASE));

    @Test
    void aDeletedKeyIsALossWithinOneRenewalPeriod() {
        LockLease lease = redis.acquired(redis.client, "orders");
        CompletableFuture<LossReason> loss = lease.onLoss().toFuture();
        redis.store.redis().del(Store.holderKey("orders"));
        long sent = redis.store.calls("evalsha");

        assertThat(loss.join()).isEqualTo(LossReason.NOT_HELD);
        assertThat(redis.store.calls("evalsha") - sent).as("renewals").isLessThanOrEqualTo(1);
        assertThat(lease.isValid()).isFalse();
    }

    @Test
    void aKeyThatAnotherClientTookIsALossAndStaysAsItIs() {
        AtomicBoolean cancelled = new AtomicBoolean();
        CompletableFuture<Object> work = redis.client
                .lock("orders")
                .withLock(Mono.never().doOnCancel(() -> cancelled.set(true)))
                .toFuture();
        String key = Store.holderKey("orders");
        eventually(() -> redis.store.isHeld(key));
        redis.store.redis().multi();
        redis.store.redis().del(key);
        redis.store.redis().hset(key, Map.of("id", "foreign", "token", "1", "attempt", "1"));
        redis.store.redis().exec();

        assertThatThrownBy(work::join)
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(LockLostException.class);
        assertThat(cancelled).isTrue();
        assertThat(redis.store.redis().hgetall(key))
                .containsEntry("id", "foreign")
                .hasSize(3);
        assertThat(redis.store.redis().pttl(key)).as("no expiry was set on it").isEqualTo(-1);
        redis.store.redis().del(key);
    }

    @Test
    void aForeignKeyOfAnotherTypeIsALossAndStaysAsItIs() {
        LockLease lease = redis.acquired(redis.client, "orders");
        String key = Store.holderKey("orders");
        redis.store.redis().set(key, "not a lock");

        assertThat(lease.onLoss().toFuture().join()).isEqualTo(LossReason.NOT_HELD);
        assertThat(redis.store.redis().get(key)).isEqualTo("not a lock");
        redis.store.redis().del(key);
    }

    @Test
    void aServerThatIsUnreachableForLongerThanTheLeaseIsALossAtTheDeadline() {
        LockLease lease = redis.acquired(redis.client, "orders");
        CompletableFuture<LossReason> loss = lease.onLoss().toFuture();
        long begin = System.nanoTime();
        Duration left = lease.remaining();
        redis.store.server.pause();

        assertThat(loss.join()).isEqualTo(LossReason.EXPIRED);
        // A renewal that was answered just before the pause moves the deadline by a lease at most.
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isBetween(left, LEASE.plus(SLACK));
        assertThat(lease.isValid()).isFalse();

        redis.store.server.resume();
        LockLease next = redis.acquired(redis.rival, "orders");
        assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
        pause(LEASE);
        assertThat(lease.isValid()).as("no resurrection").isFalse();
        assertThat(next.isValid()).isTrue();
        await(next.release());
    }

    @Test
    void aServerThatIsUnreachableForLessThanTheLeaseCostsNothing() {
        Duration longer = LEASE.multipliedBy(4);
        LockLease lease = await(redis.client
                .lock("orders")
                .with(LockOptions.builder().leaseDuration(longer).build())
                .acquire());
        redis.store.server.pause();
        eventually(() -> redis.events.stream().anyMatch(LockEvent.RenewalFailed.class::isInstance));
        redis.store.server.resume();

        Duration thatOnlyARenewalGives = longer.multipliedBy(3).dividedBy(4);
        eventually(() -> lease.remaining().compareTo(thatOnlyARenewalGives) > 0);

        assertThat(redis.events).noneMatch(LockEvent.Lost.class::isInstance);
        await(lease.release());
    }

    @Test
    void aServerThatRestartsEmptyIsALossByTheNextRenewalAndTokensRise() {
        LockLease lease = redis.acquired(redis.client, "orders");
        redis.store.server.restart();

        LossReason reason = lease.onLoss().toFuture().join();

        assertThat(reason).isIn(LossReason.NOT_HELD, LossReason.EXPIRED);
        LockLease next = redis.acquired(redis.client, "orders");
        assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
        await(next.release());
    }
}
