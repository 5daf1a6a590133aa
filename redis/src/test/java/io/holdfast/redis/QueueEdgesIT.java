package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockKind;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The queue when something is wrong: with the server, its clock, its keys, or the waiters. */
class QueueEdgesIT {

    private static final String NAME = "orders";
    private static final String HOLDER = Store.holderKey(NAME);
    private static final String WAITERS = HOLDER + ":claims";
    private static final long HOUR_MICROS = 3_600_000_000L;

    private Store store;
    private RedisLockBackend backend;
    private final BlockingQueue<WatchSignal> signals = new LinkedBlockingQueue<>();
    private final Disposable.Composite watches = Disposables.composite();

    @BeforeEach
    void start() {
        store = Store.start();
        backend = store.backend();
    }

    @AfterEach
    void stop() {
        watches.dispose();
        Store.end(backend);
        store.close();
    }

    /** Only the waiter would know of such a grant. */
    @Test
    void serverThatRefusesWritesPushesNoGrant() throws InterruptedException {
        held(claim(Duration.ofSeconds(2), Waiting.NONE));
        queued(claim(Store.LEASE, Waiting.QUEUE));
        next(WatchSignal.Armed.class);
        assertThat(store.redis().replicaof("127.0.0.1", 1)).isEqualTo("OK");
        ClientOverRedis.eventually(() -> !store.isHeld(HOLDER));

        // Redis 6.2 shows expired keys to the scripts of a replica, so the attempt may be answered there.
        Object unused = backend.tryAcquire(claim(Store.LEASE, Waiting.NONE))
                .onErrorResume(LockBackendException.class, e -> Mono.empty())
                .toFuture()
                .join();
        assertThatThrownBy(() -> Store.answer(backend.release(claim(Store.LEASE, Waiting.NONE))))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("replica");

        Store.answer(backend.watch(claim(Store.LEASE, Waiting.QUEUE)).next()); // the channel has no more messages
        // Or the next channel, which the client opens when it has left this server.
        eventually(() -> store.redis().pubsubChannels().stream()
                .anyMatch(open -> store.redis().pubsubNumsub(open).containsValue(1L)));
        assertThat(store.calls("publish")).isZero();
        // The client leaves a server that is not a master any more, and its channel too; the new channel sends a
        // signal.
        assertThat(signals).doesNotHaveAnyElementsOfTypes(WatchSignal.Granted.class);
    }

    @Test
    void grantIsShortWhenTheServersClockWasSetBack() throws InterruptedException {
        LockClaim holder = held(claim(Store.LEASE, Waiting.NONE));
        LockClaim waiter = queued(claim(Store.LEASE, Waiting.QUEUE));
        next(WatchSignal.Armed.class);
        setAttempted(waiter, HOUR_MICROS);
        Store.answer(backend.release(holder));
        WatchSignal.Granted granted = (WatchSignal.Granted) next(WatchSignal.Granted.class);
        assertThat(granted.lease()).isEqualTo(Duration.ofSeconds(2));
        assertThat(Store.answer(backend.renew(waiter))).isInstanceOf(Renewal.Held.class);
    }

    @Test
    void ticketsRiseWhenTheServersClockWasSetBack() throws InterruptedException {
        LockClaim holder = held(claim(Store.LEASE, Waiting.NONE));
        LockClaim first = queued(claim(Store.LEASE, Waiting.QUEUE));
        next(WatchSignal.Armed.class);
        store.redis().zadd(HOLDER + ":queue", (double) (serverMicros() + HOUR_MICROS), first.id());
        LockClaim second = queued(claim(Store.LEASE, Waiting.QUEUE));
        assertThat(store.redis().zrange(HOLDER + ":queue", 0, -1)).containsExactly(first.id(), second.id());
        Store.answer(backend.release(holder));
        next(WatchSignal.Granted.class);
        assertThat(Store.answer(backend.renew(first))).isInstanceOf(Renewal.Held.class);
    }

    @Test
    void staleHeadIsPassedOverByARelease() throws InterruptedException {
        LockClaim holder = held(claim(Store.LEASE, Waiting.NONE));
        LockClaim stale = queued(claim(Store.LEASE, Waiting.QUEUE));
        LockClaim living = queued(claim(Store.LEASE, Waiting.QUEUE));
        next(WatchSignal.Armed.class);
        setAttempted(stale, -Store.LEASE.toMillis() * 501);
        Store.answer(backend.release(holder));
        next(WatchSignal.Granted.class);
        assertThat(Store.answer(backend.renew(living))).isInstanceOf(Renewal.Held.class);
        assertThat(store.keys()).containsExactly(HOLDER);
    }

    @Test
    void waiterIsStaleByHalfOfItsOwnLease() throws InterruptedException {
        LockClaim holder = held(claim(Store.LEASE, Waiting.NONE));
        LockClaim shortLease = queued(claim(Duration.ofSeconds(10), Waiting.QUEUE));
        LockClaim longLease = queued(claim(Duration.ofMinutes(2), Waiting.QUEUE));
        next(WatchSignal.Armed.class);
        setAttempted(shortLease, -6_000_000);
        setAttempted(longLease, -50_000_000);
        Store.answer(backend.release(holder));
        WatchSignal.Granted granted = (WatchSignal.Granted) next(WatchSignal.Granted.class);
        assertThat(Store.answer(backend.renew(longLease))).isInstanceOf(Renewal.Held.class);
        assertThat(granted.lease()).isBetween(Duration.ofSeconds(52), Duration.ofSeconds(62));
    }

    @Test
    void leaseShorterThanTheClaimTimeBoundsTheGrant() throws InterruptedException {
        Store.end(backend);
        backend = RedisLockBackend.builder(store.uri())
                .claimTime(Duration.ofMinutes(1))
                .build();
        LockClaim holder = held(claim(Store.LEASE, Waiting.NONE));
        LockClaim waiter = queued(claim(Duration.ofSeconds(20), Waiting.QUEUE));
        next(WatchSignal.Armed.class);
        long attemptedAt = System.nanoTime();
        assertThat(Store.answer(backend.tryAcquire(waiter.withAttempt(2)))).isInstanceOf(LockAttempt.Queued.class);
        Store.answer(backend.release(holder));
        String record = store.redis().get(HOLDER);
        Duration waited = Duration.ofNanos(System.nanoTime() - attemptedAt);
        long end = Long.parseLong(record.substring(3, 19));
        assertThat(end - Long.parseLong(record.substring(19, 35)))
                .as("the grant, in microseconds")
                .isBetween(19_999_999L, 20_000_000L);
        assertThat(end % 2).as("an even end: it is not confirmed").isZero();
        WatchSignal.Granted granted = (WatchSignal.Granted) next(WatchSignal.Granted.class);
        assertThat(granted.attempt()).isEqualTo(2);
        assertThat(granted.lease())
                .as("from the attempt on")
                .isBetween(Duration.ofSeconds(20), Duration.ofSeconds(20).plus(waited));
    }

    @Test
    void lateCopyOfAnEarlierAttemptChangesNothing() throws InterruptedException {
        LockClaim holder = held(claim(Store.LEASE, Waiting.NONE));
        LockClaim waiter = queued(claim(Store.LEASE, Waiting.QUEUE));
        next(WatchSignal.Armed.class);
        Store.answer(backend.tryAcquire(waiter.withAttempt(5)));
        String entry = store.redis().hget(WAITERS, waiter.id());
        assertThat(Store.answer(backend.tryAcquire(waiter.withAttempt(4)))).isInstanceOf(LockAttempt.Queued.class);
        assertThat(store.redis().hget(WAITERS, waiter.id())).isEqualTo(entry);
        Store.answer(backend.release(holder));
        next(WatchSignal.Granted.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"a b", "{x}", "}%7B{", "line\nbreak", "\u00e9\ud83d\ude00", "G 1 2 3 4 5 :mutex", "a}:mutex"})
    void aLockOfAnyNameIsHandedOver(String name) throws InterruptedException {
        LockClaim holder = LockClaim.first(LockKey.of(LockKind.MUTEX, name), "an id", Store.LEASE, Waiting.NONE);
        held(holder);
        LockClaim gone = queued(LockClaim.first(holder.key(), "C x y", Store.LEASE, Waiting.QUEUE));
        next(WatchSignal.Armed.class);
        watches.dispose();
        RedisLockBackend other = store.backend();
        LockClaim heir = LockClaim.first(holder.key(), " 7 ", Store.LEASE, Waiting.QUEUE);
        Disposable watch = other.watch(heir).subscribe(signals::add);
        Store.answer(other.tryAcquire(heir));
        next(WatchSignal.Armed.class);
        // Goes to the claim that no waiter has, which releases it.
        Store.answer(backend.release(holder));
        next(WatchSignal.Granted.class);
        assertThat(Store.answer(other.renew(heir))).isInstanceOf(Renewal.Held.class);
        assertThat(Store.answer(backend.renew(gone))).isInstanceOf(Renewal.NotHeld.class);
        watch.dispose();
        Store.end(other);
    }

    @ParameterizedTest
    @ValueSource(strings = {":queue", ":claims"})
    void foreignKeyBesideTheLockIsNamedAndNothingIsWritten(String suffix) throws InterruptedException {
        LockClaim holder = held(claim(Store.LEASE, Waiting.NONE));
        queued(claim(Store.LEASE, Waiting.QUEUE));
        next(WatchSignal.Armed.class);
        store.redis().del(HOLDER + suffix);
        store.redis().lpush(HOLDER + suffix, "theirs");
        Map<String, String> before = dump();
        for (Waiting waiting : List.of(Waiting.QUEUE, Waiting.NOTIFY)) {
            assertForeign(() -> Store.answer(backend.tryAcquire(claim(Store.LEASE, waiting))));
        }
        assertThat(Store.answer(backend.tryAcquire(claim(Store.LEASE, Waiting.NONE))))
                .as("reads nothing of it")
                .isInstanceOf(LockAttempt.Contended.class);
        assertForeign(() -> Store.answer(backend.release(holder)));
        store.redis().del(HOLDER);
        before.remove(HOLDER);
        for (Waiting waiting : Waiting.values()) {
            assertForeign(() -> Store.answer(backend.tryAcquire(claim(Store.LEASE, waiting))));
        }
        assertThat(dump()).isEqualTo(before);
    }

    @ParameterizedTest
    @ValueSource(strings = {":gone", ":interest"})
    void foreignKeyBesideTheLockIsNamedByTheOperationThatWouldWriteItAndIsNeverWritten(String suffix)
            throws InterruptedException {
        held(claim(Store.LEASE, Waiting.NONE));
        queued(claim(Store.LEASE, Waiting.QUEUE));
        next(WatchSignal.Armed.class);
        store.redis().del(HOLDER + suffix);
        store.redis().lpush(HOLDER + suffix, "theirs");
        Map<String, String> before = dump();
        if (suffix.equals(":interest")) {
            assertThat(Store.answer(backend.tryAcquire(claim(Store.LEASE, Waiting.NONE))))
                    .as("reads nothing of it")
                    .isInstanceOf(LockAttempt.Contended.class);
        }
        assertThat(dump()).isEqualTo(before);

        store.redis().del(HOLDER);
        before.remove(HOLDER);
        for (Waiting waiting : Waiting.values()) {
            assertForeign(() -> Store.answer(backend.tryAcquire(claim(Store.LEASE, waiting))));
        }
        assertThat(dump()).isEqualTo(before);
    }

    /** A missing record shows nothing about a queue, so the script reads the queue. */
    @Test
    void aNewcomerDoesNotPassTheQueueOfALockWhoseRecordIsGone() throws InterruptedException {
        held(claim(Store.LEASE, Waiting.NONE));
        LockClaim waiter = queued(claim(Store.LEASE, Waiting.QUEUE));
        next(WatchSignal.Armed.class);
        store.redis().del(HOLDER);

        assertThat(Store.answer(backend.tryAcquire(claim(Store.LEASE, Waiting.NONE))))
                .isInstanceOf(LockAttempt.Contended.class);

        next(WatchSignal.Granted.class);
        assertThat(Store.answer(backend.renew(waiter))).isInstanceOf(Renewal.Held.class);
    }

    @Test
    void tenThousandDeadWaitersAreReadInPortions() {
        LockClaim holder = held(claim(Store.LEASE, Waiting.NONE));
        int many = 10_000;
        Map<String, String> entries = new TreeMap<>();
        long now = serverMicros();
        for (int i = 0; i < many; i++) {
            String id = UUID.randomUUID().toString();
            entries.put(id, "1 30000 " + now + " 0 5ec2e7 holdfast:client:dead");
            store.redis().zadd(HOLDER + ":queue", (double) (now + i), id);
        }
        store.redis().hset(WAITERS, entries);
        assertThat(store.redis().configResetstat()).isEqualTo("OK");
        assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);
        assertThat(store.calls("publish")).as("one for all, and the first two").isLessThanOrEqualTo(3);
        assertThat(store.calls("zrange")).isLessThan(30);
        assertThat(store.calls("hset"))
                .as("one for each portion that is set aside")
                .isLessThan(30);
        assertThat(store.redis().hlen(WAITERS)).as("keep their tickets").isEqualTo(many);
        eventually(() ->
                Store.answer(backend.tryAcquire(claim(Store.LEASE, Waiting.NONE))) instanceof LockAttempt.Acquired);
    }

    @Test
    void oneOfTenThousandLivingWaitersIsServedInAFewCalls() throws InterruptedException {
        LockClaim holder = held(claim(Store.LEASE, Waiting.NONE));
        List<LockClaim> waiters = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            LockClaim waiter = claim(Store.LEASE, Waiting.QUEUE);
            waiters.add(waiter);
            watches.add(backend.watch(waiter).subscribe(signal -> {
                if (signal instanceof WatchSignal.Granted) {
                    signals.add(signal);
                }
            }));
        }
        assertThat(Store.answer(Flux.fromIterable(waiters)
                        .flatMapSequential(backend::tryAcquire, 256)
                        .filter(LockAttempt.Queued.class::isInstance)
                        .count()))
                .isEqualTo(10_000);
        assertThat(store.redis().configResetstat()).isEqualTo("OK");
        Store.answer(backend.release(holder));
        next(WatchSignal.Granted.class);
        long inside = List.of(
                        "exists", "hmget", "zscore", "hget", "get", "del", "time", "zrange", "set", "publish", "zrem")
                .stream()
                .mapToLong(store::calls)
                .sum();
        assertThat(inside).isLessThan(20);
    }

    private static void assertForeign(ThrowingCallable question) {
        assertThatThrownBy(question)
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        e -> assertThat(e.isTransient()).isFalse())
                .hasMessageContaining("a key of this lock holds a foreign value")
                .hasMessageContaining("'orders'");
    }

    private Map<String, String> dump() {
        Map<String, String> all = new TreeMap<>();
        store.keys().forEach(key -> all.put(key, Arrays.toString(store.redis().dump(key))));
        return all;
    }

    private void setAttempted(LockClaim waiter, long microsFromNow) {
        String entry = store.redis().hget(WAITERS, waiter.id());
        String time = " " + (serverMicros() + microsFromNow);
        String before = entry.substring(0, entry.length() - 2 * time.length());
        boolean isNew = store.redis().hset(WAITERS, waiter.id(), before + time + time);
        assertThat(isNew).isFalse();
    }

    private long serverMicros() {
        List<String> time = store.redis().time();
        return Long.parseLong(time.get(0)) * 1_000_000 + Long.parseLong(time.get(1));
    }

    private static LockClaim claim(Duration lease, Waiting waiting) {
        return LockClaim.first(
                LockKey.of(LockKind.MUTEX, NAME), UUID.randomUUID().toString(), lease, waiting);
    }

    @CanIgnoreReturnValue
    private LockClaim held(LockClaim claim) {
        assertThat(Store.answer(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Acquired.class);
        return claim;
    }

    @CanIgnoreReturnValue
    private LockClaim queued(LockClaim waiter) {
        watches.add(backend.watch(waiter).subscribe(signals::add));
        assertThat(Store.answer(backend.tryAcquire(waiter))).isInstanceOf(LockAttempt.Queued.class);
        return waiter;
    }

    /** Returns the next signal of that kind, and drops others before it. */
    @CanIgnoreReturnValue
    private WatchSignal next(Class<? extends WatchSignal> kind) throws InterruptedException {
        WatchSignal signal;
        do {
            signal = signals.poll(10, TimeUnit.SECONDS);
            assertThat(signal).as("a signal within 10 s, wanted " + kind).isNotNull();
        } while (!kind.isInstance(signal));
        return signal;
    }
}
