package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.testkit.ExclusionProbe;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class HandOffIT {

    @RegisterExtension
    final ClientOverRedis redis = new ClientOverRedis();

    @Test
    void anUncontendedCycleOfAClientIsTwoCommands() {
        await(redis.client.lock("warm-up").withLock(Mono.just(1)));
        redis.store.redis().configResetstat();

        Flux<Integer> cycles =
                Flux.range(0, 100).concatMap(n -> redis.client.lock("orders").withLock(Mono.just(n)));

        assertThat(await(cycles.count())).isEqualTo(100);
        assertThat(redis.store.calls("evalsha")).isEqualTo(200);
        assertThat(redis.store.calls("publish")).isZero();
        assertThat(redis.store.calls("subscribe")).isZero();
    }

    @Test
    void aContendedHandOffIsThreeCommands() {
        warmUp();
        LockLease holder = redis.acquired(redis.client, "orders");
        redis.store.redis().configResetstat();
        CompletableFuture<LockLease> waiter =
                redis.rival.lock("orders").acquire().toFuture();
        eventually(() -> redis.store.calls("evalsha") == 1);

        await(holder.release());
        LockLease granted = waiter.join();

        assertThat(granted.fencingToken()).isGreaterThan(holder.fencingToken());
        eventually(() -> redis.store.calls("evalsha") == 3); // enqueue, release, confirming renewal
        assertThat(redis.store.calls("publish")).isOne();
        assertThat(redis.store.calls("subscribe")).isZero();
        await(granted.release());
        assertThat(redis.store.calls("evalsha")).isEqualTo(4);
    }

    @Test
    void aReleaseHandsOverAlsoWhenTheServerHasNoMemoryLeft() {
        LockLease holder = redis.acquired(redis.client, "orders");
        CompletableFuture<LockLease> waiter =
                redis.rival.lock("orders").acquire().toFuture();
        eventually(() -> Store.waiting(redis.store.redis(), Store.holderKey("orders")) == 1);
        assertThat(redis.store.redis().configSet("maxmemory", "1")).isEqualTo("OK");
        try {
            await(holder.release());
            assertThat(waiter.join().fencingToken()).isGreaterThan(holder.fencingToken());
        } finally {
            assertThat(redis.store.redis().configSet("maxmemory", "0")).isEqualTo("OK");
        }
        await(waiter.join().release());
    }

    @Test
    void theReleaseItselfMakesTheNextHolderWithoutAnotherRequestOfTheWaiter() {
        warmUp();
        LockLease holder = redis.acquired(redis.client, "orders");
        CompletableFuture<Long> emitted = redis.rival
                .lock("orders")
                .acquire()
                .map(lease -> {
                    // The grant comes before this client could send another command: the hand-off was one round trip of
                    // the client that released.
                    assertThat(lease.isValid()).isTrue();
                    return lease.fencingToken();
                })
                .toFuture();
        eventually(() -> Store.waiting(redis.store.redis(), Store.holderKey("orders")) == 1);

        await(holder.release());

        long token = emitted.join();
        assertThat(redis.store.token(Store.holderKey("orders"))).isEqualTo(token);
    }

    @Test
    void waitersOfTwoClientsAreServedInTheOrderOfTheirArrival() {
        warmUp();
        LockLease holder = redis.acquired(redis.client, "orders");
        List<Integer> served = new CopyOnWriteArrayList<>();
        List<CompletableFuture<Integer>> waiters = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            int number = i;
            var lock = (i % 2 == 0 ? redis.client : redis.rival).lock("orders");
            waiters.add(lock.withLock(Mono.fromCallable(() -> {
                        served.add(number);
                        return number;
                    }))
                    .toFuture());
            eventually(() -> Store.waiting(redis.store.redis(), Store.holderKey("orders")) == number + 1);
        }

        await(holder.release());
        waiters.forEach(CompletableFuture::join);

        assertThat(served).isSorted().hasSize(50);
    }

    @Test
    void contendersOfTwoClientsExcludeEachOtherWithRisingTokens() {
        ExclusionProbe probe = ExclusionProbe.exclusive();
        Flux<Integer> contenders = Flux.range(0, 2_000)
                .flatMap(
                        n -> (n % 2 == 0 ? redis.client : redis.rival)
                                .lock("orders")
                                .withLock(lease -> probe.guard(lease.fencingToken(), Mono.just(n))),
                        200);

        assertThat(await(contenders.count())).isEqualTo(2_000);
        probe.verify();
        assertThat(probe.tokens()).isSorted().doesNotHaveDuplicates();
    }

    /**
     * Lets both clients wait, so their channels are up. It does so twice: the first hand-off may overtake its own push,
     * which is then released; after the second one that release has happened, too.
     */
    private void warmUp() {
        List<LockClient> turns = List.of(redis.client, redis.rival, redis.client, redis.rival);
        for (int turn = 0; turn < turns.size(); turn++) {
            LockLease held = redis.acquired(redis.client, "warm-up");
            CompletableFuture<LockLease> waiter =
                    turns.get(turn).lock("warm-up").acquire().toFuture();
            eventually(() -> Store.waiting(redis.store.redis(), Store.holderKey("warm-up")) == 1);
            redis.eventuallyListening(Math.min(turn + 1, 2));
            await(held.release());
            await(waiter.join().release());
        }
        redis.store.redis().configResetstat();
    }
}
