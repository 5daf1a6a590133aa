package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static io.holdfast.redis.ClientOverRedis.pause;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.ReactiveLock;
import io.holdfast.spi.LockKey;
import io.holdfast.testkit.ExclusionProbe;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class RedisSemaphoreIT {

    private static final String NAME = "orders";
    private static final String KEY = Store.holderKey(LockKey.of(LockKind.SEMAPHORE, NAME));
    private static final Duration LEASE = Duration.ofSeconds(3);

    @RegisterExtension
    final ClientOverRedis redis = new ClientOverRedis(options -> options.leaseDuration(LEASE));

    private static ReactiveLock permit(LockClient client, int permits) {
        return client.semaphore(NAME, permits);
    }

    @Test
    void asManyHoldAsThereArePermitsEachWithItsOwnRisingToken() {
        LockLease first = await(permit(redis.client, 2).acquire());
        LockLease second = await(permit(redis.rival, 2).acquire());

        assertThat(second.fencingToken()).isGreaterThan(first.fencingToken());
        assertThat(await(permit(redis.client, 2).tryAcquire().hasElement())).isFalse();
        await(first.release());
        assertThat(await(permit(redis.rival, 2).tryAcquire()).fencingToken()).isGreaterThan(second.fencingToken());
    }

    @Test
    void aFreedPermitComesToTheFirstWaiterAlone() {
        warmUp();
        LockLease holder = await(permit(redis.client, 2).acquire());
        LockLease other = await(permit(redis.rival, 2).acquire());
        CompletableFuture<LockLease> first = permit(redis.rival, 2).acquire().toFuture();
        awaitQueued(1);
        CompletableFuture<LockLease> second = permit(redis.client, 2).acquire().toFuture();
        awaitQueued(2);

        await(holder.release());
        LockLease granted = first.join();

        assertThat(second).isNotDone();
        assertThat(other.isValid()).isTrue();
        await(granted.release());
        assertThat(second.join().fencingToken()).isGreaterThan(granted.fencingToken());
    }

    @Test
    void aClaimIsJudgedByItsOwnPermits() {
        await(permit(redis.client, 1).acquire());
        assertThat(await(permit(redis.client, 1).tryAcquire().hasElement())).isFalse();
        assertThat(await(permit(redis.rival, 2).tryAcquire()).isValid()).isTrue();
    }

    @Test
    void aHolderThatDiedGivesUpItsPermitAlone() {
        LockLease living = await(permit(redis.client, 2).acquire());
        redis.dieHolding(client -> permit(client, 2).acquire());

        LockLease next = await(permit(redis.rival, 2).acquire());

        assertThat(next.isValid()).isTrue();
        assertThat(living.isValid()).isTrue();
        assertThat(redis.store.redis().zcard(KEY + ":held")).isEqualTo(2);
    }

    @Test
    void permitsThatAreRenewedOutliveTheirLeases() {
        LockLease first = await(permit(redis.client, 2).acquire());
        LockLease second = await(permit(redis.rival, 2).acquire());

        pause(LEASE.multipliedBy(2));

        assertThat(first.isValid()).isTrue();
        assertThat(second.isValid()).isTrue();
        assertThat(await(permit(redis.rival, 2).tryAcquire().hasElement())).isFalse();
    }

    @Test
    void aWaiterThatLeavesGivesUpItsPlace() {
        LockLease holder = await(permit(redis.client, 1).acquire());
        CompletableFuture<LockLease> leaving = permit(redis.rival, 1).acquire().toFuture();
        awaitQueued(1);
        leaving.cancel(true);

        eventually(() -> redis.store.redis().exists(KEY + ":queue") == 0);
        assertThat(holder.isValid()).isTrue();
    }

    @Test
    void contendersOfTwoClientsAreNeverMoreThanThePermits() {
        ExclusionProbe probe = ExclusionProbe.of(4);
        Flux<Integer> contenders = Flux.range(0, 1_500)
                .flatMap(
                        n -> permit(n % 2 == 0 ? redis.client : redis.rival, 4)
                                .withLock(lease -> probe.guard(
                                        lease.fencingToken(),
                                        Mono.delay(Duration.ofMillis(1)).thenReturn(n))),
                        150);

        assertThat(await(contenders.count())).isEqualTo(1_500);
        probe.verify();
        assertThat(probe.mostAtOnce()).isGreaterThan(1);
        assertThat(probe.tokens()).hasSize(1_500).doesNotHaveDuplicates();
    }

    @Test
    void anUncontendedCycleIsTwoCommands() {
        await(permit(redis.client, 3).withLock(Mono.just(1)));
        redis.store.redis().configResetstat();

        await(Flux.range(0, 50)
                .concatMap(n -> permit(redis.client, 3).withLock(Mono.just(n)))
                .count());

        assertThat(redis.store.calls("evalsha")).isEqualTo(100);
        assertThat(redis.store.calls("publish") + redis.store.calls("subscribe"))
                .isZero();
    }

    @Test
    void aContendedHandOffIsThreeCommands() {
        warmUp();
        LockLease holder = await(permit(redis.client, 1).acquire());
        redis.store.redis().configResetstat();
        CompletableFuture<LockLease> waiter = permit(redis.rival, 1).acquire().toFuture();
        eventually(() -> redis.store.calls("evalsha") == 1);

        await(holder.release());
        LockLease granted = waiter.join();

        eventually(() -> redis.store.calls("evalsha") == 3); // enqueue, release, confirming renewal
        assertThat(redis.store.calls("publish")).isOne();
        assertThat(redis.store.calls("subscribe")).isZero();
        await(granted.release());
    }

    private void awaitQueued(long count) {
        eventually(() -> redis.store.redis().zcard(KEY + ":queue") == count);
    }

    /**
     * Lets both clients wait, so their channels are up. It does so twice: the first hand-off may overtake its own push,
     * which is then released; after the second one that release has happened, too.
     */
    private void warmUp() {
        List<LockClient> turns = List.of(redis.client, redis.rival, redis.client, redis.rival);
        for (int turn = 0; turn < turns.size(); turn++) {
            LockLease held = await(permit(redis.client, 1).acquire());
            CompletableFuture<LockLease> waiter =
                    permit(turns.get(turn), 1).acquire().toFuture();
            awaitQueued(1);
            redis.eventuallyListening(Math.min(turn + 1, 2));
            await(held.release());
            await(waiter.join().release());
        }
    }
}
