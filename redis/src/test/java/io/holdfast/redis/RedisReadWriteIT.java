package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static io.holdfast.redis.ClientOverRedis.pause;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LossReason;
import io.holdfast.ReactiveLock;
import io.holdfast.spi.LockKey;
import io.holdfast.testkit.ExclusionProbe;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class RedisReadWriteIT {

    private static final String NAME = "orders";
    private static final String KEY = Store.holderKey(LockKey.of(LockKind.READ, NAME));
    private static final String HELD = KEY + ":held";
    private static final Duration LEASE = Duration.ofSeconds(3);

    @RegisterExtension
    final ClientOverRedis redis = new ClientOverRedis(options -> options.leaseDuration(LEASE));

    private static ReactiveLock read(LockClient client) {
        return client.readWriteLock(NAME).readLock();
    }

    private static ReactiveLock write(LockClient client) {
        return client.readWriteLock(NAME).writeLock();
    }

    @Test
    void readersOfTwoClientsShareAndEachHasItsOwnRisingToken() {
        LockLease first = await(read(redis.client).acquire());
        LockLease second = await(read(redis.rival).acquire());

        assertThat(second.fencingToken()).isGreaterThan(first.fencingToken());
        assertThat(await(write(redis.rival).tryAcquire().hasElement())).isFalse();
        await(first.release());
        assertThat(await(write(redis.client).tryAcquire().hasElement())).isFalse();
        await(second.release());
        LockLease writer = await(write(redis.client).tryAcquire());
        assertThat(writer.fencingToken()).isGreaterThan(second.fencingToken());
        assertThat(await(read(redis.rival).tryAcquire().hasElement())).isFalse();
    }

    @Test
    void aWaitingWriterHoldsBackLaterReadersAndThenHandsOverToAllOfThemAtOnce() {
        warmUp();
        LockLease reader = await(read(redis.client).acquire());
        CompletableFuture<LockLease> writer = write(redis.rival).acquire().toFuture();
        awaitQueued(1);
        CompletableFuture<LockLease> second = read(redis.client).acquire().toFuture();
        CompletableFuture<LockLease> third = read(redis.rival).acquire().toFuture();
        awaitQueued(3);
        assertThat(await(read(redis.client).tryAcquire().hasElement())).isFalse();

        await(reader.release());
        LockLease writing = writer.join();
        assertThat(second).isNotDone();
        assertThat(third).isNotDone();
        await(writing.renew()); // after the confirmation
        redis.store.redis().configResetstat();
        await(writing.release());

        assertThat(List.of(second.join().fencingToken(), third.join().fencingToken()))
                .allMatch(token -> token > writing.fencingToken())
                .doesNotHaveDuplicates();
        eventually(() -> redis.store.calls("evalsha") == 3); // the release, and a confirmation of each
        assertThat(redis.store.calls("publish"))
                .as("the grant to a reader of the same client is in the answer")
                .isOne();
    }

    @Test
    void aReadUnderTheOwnWriteLockIsAViewWithoutACommand() {
        await(write(redis.client).withLock(Mono.just(1)));
        redis.store.redis().configResetstat();
        Mono<Boolean> isOneLease = write(redis.client)
                .withLock(writing -> read(redis.client)
                        .withLock(
                                reading -> Mono.fromCallable(() -> reading.fencingToken() == writing.fencingToken())));

        assertThat(await(isOneLease)).isTrue();
        assertThat(redis.store.calls("evalsha")).as("those of the write lock").isEqualTo(2);
    }

    @Test
    void anUpgradeIsRefusedAndTheReadLockGivenBack() {
        Mono<Integer> upgrade = read(redis.client).withLock(write(redis.client).withLock(Mono.just(1)));

        assertThatThrownBy(() -> await(upgrade)).isInstanceOf(IllegalStateException.class);
        assertThat(redis.keysButCounters()).isEmpty();
    }

    @Test
    void aReaderThatDiedGivesUpItsShareAlone() {
        LockLease living = await(read(redis.client).acquire());
        redis.dieHolding(client -> read(client).acquire());
        assertThat(redis.store.redis().zcard(HELD)).isEqualTo(2);
        CompletableFuture<LockLease> writer = write(redis.rival).acquire().toFuture();

        eventually(() -> redis.store.redis().zcard(HELD) == 1); // found by the writer's attempts
        assertThat(writer).isNotDone();
        assertThat(living.isValid()).isTrue();
        await(living.release());

        assertThat(writer.join().isValid()).isTrue();
    }

    @Test
    void aWriterThatDiedWhileItWaitedHoldsBackNoReader() {
        LockLease reader = await(read(redis.client).acquire());
        redis.dieWaiting(client -> write(client).acquire(), () -> awaitQueued(1));

        LockLease later = await(read(redis.rival).acquire().timeout(LEASE.dividedBy(3)));

        assertThat(reader.isValid()).isTrue();
        assertThatNothingIsLeftAfter(reader, later);
    }

    @Test
    void readersBehindAWriterThatDiedWaitingAreServedByTheirNextAttempt() {
        warmUp();
        LockLease reader = await(read(redis.client).acquire());
        CompletableFuture<LockLease> later = new CompletableFuture<>();
        redis.dieWaiting(client -> write(client).acquire(), () -> {
            awaitQueued(1);
            // Only then does the server see a live waiter, and holds the reader back.
            eventually(() -> redis.store.redis().pubsubChannels().size() == 3);
            read(redis.rival).acquire().subscribe(later::complete);
            awaitQueued(2);
        });

        assertThat(later.join().isValid()).isTrue();
        assertThat(reader.isValid()).isTrue();
        assertThatNothingIsLeftAfter(reader, later.join());
    }

    @Test
    void readersThatRenewOutliveTheirLeases() {
        LockLease first = await(read(redis.client).acquire());
        LockLease second = await(read(redis.client).acquire());

        pause(LEASE.multipliedBy(2));

        assertThat(first.isValid()).isTrue();
        assertThat(second.isValid()).isTrue();
        assertThat(await(write(redis.rival).tryAcquire().hasElement())).isFalse();
    }

    @Test
    void aShareThatIsDeletedIsALossOfThatReaderAlone() {
        LockLease first = await(read(redis.client).acquire());
        String id = redis.store.redis().zrange(HELD, 0, 0).get(0);
        LockLease second = await(read(redis.client).acquire());
        redis.store.redis().zrem(HELD, id);

        assertThat(await(first.onLoss())).isEqualTo(LossReason.NOT_HELD);
        assertThat(first.isValid()).isFalse();
        assertThat(second.isValid()).isTrue();
        assertThat(redis.store.redis().zcard(HELD)).isOne();
        redis.store.redis().hdel(KEY + ":claims", ' ' + id);
    }

    @Test
    void contendersOfTwoClientsKeepWritersAloneWithRisingTokens() {
        ExclusionProbe writers = ExclusionProbe.exclusive();
        ExclusionProbe all = ExclusionProbe.of(Integer.MAX_VALUE);
        AtomicInteger readersInside = new AtomicInteger();
        AtomicInteger mixed = new AtomicInteger();
        Flux<Integer> contenders = Flux.range(0, 1_500)
                .flatMap(
                        n -> {
                            LockClient client = n % 2 == 0 ? redis.client : redis.rival;
                            if (n % 5 == 0) {
                                return write(client)
                                        .withLock(lease -> writers.guard(
                                                lease.fencingToken(),
                                                Mono.fromCallable(
                                                        () -> mixed.addAndGet(readersInside.get() == 0 ? 0 : 1))));
                            }
                            return read(client)
                                    .withLock(lease -> all.guard(
                                            lease.fencingToken(),
                                            Mono.using(
                                                    readersInside::incrementAndGet,
                                                    inside -> Mono.delay(Duration.ofMillis(1))
                                                            .thenReturn(n),
                                                    inside -> readersInside.decrementAndGet())));
                        },
                        150);

        assertThat(await(contenders.count())).isEqualTo(1_500);
        writers.verify();
        assertThat(mixed).as("writers that met a reader").hasValue(0);
        assertThat(writers.tokens()).hasSize(300).isSorted().doesNotHaveDuplicates();
        assertThat(all.tokens()).hasSize(1_200).doesNotHaveDuplicates();
        assertThat(all.mostAtOnce()).as("readers share").isGreaterThan(1);
    }

    @Test
    void anUncontendedCycleIsTwoCommands() {
        await(read(redis.client).withLock(Mono.just(1)));
        await(write(redis.client).withLock(Mono.just(1)));
        redis.store.redis().configResetstat();

        await(Flux.range(0, 50)
                .concatMap(n -> (n % 2 == 0 ? read(redis.client) : write(redis.client)).withLock(Mono.just(n)))
                .count());

        assertThat(redis.store.calls("evalsha")).isEqualTo(100);
        assertThat(redis.store.calls("publish") + redis.store.calls("subscribe"))
                .isZero();
    }

    @Test
    void aContendedHandOffIsThreeCommands() {
        warmUp();
        LockLease holder = await(read(redis.client).acquire());
        redis.store.redis().configResetstat();
        CompletableFuture<LockLease> waiter = write(redis.rival).acquire().toFuture();
        eventually(() -> redis.store.calls("evalsha") == 1);

        await(holder.release());
        LockLease granted = waiter.join();

        eventually(() -> redis.store.calls("evalsha") == 3); // enqueue, release, confirming renewal
        assertThat(redis.store.calls("publish")).isOne();
        assertThat(redis.store.calls("subscribe")).isZero();
        await(granted.release());
    }

    /** The place of a dead waiter is kept for a lease at most. */
    private void assertThatNothingIsLeftAfter(LockLease... leases) {
        await(Flux.just(leases).flatMap(LockLease::release).then(Mono.just(1)));
        eventually(() -> redis.keysButCounters().isEmpty());
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
            LockLease held = await(write(redis.client).acquire());
            CompletableFuture<LockLease> waiter =
                    write(turns.get(turn)).acquire().toFuture();
            awaitQueued(1);
            redis.eventuallyListening(Math.min(turn + 1, 2));
            await(held.release());
            await(waiter.join().release());
        }
    }
}
