package io.holdfast.redis;

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
import io.lettuce.core.ScoredValue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * The server's memory for the kinds that several claims may hold, before, during and after; and the commands on the
 * wire.
 */
class RedisSharedStoreIT {

    private static final String NAME = "orders";
    private static final LockKey READ = LockKey.of(LockKind.READ, NAME);
    private static final LockKey WRITE = LockKey.of(LockKind.WRITE, NAME);
    private static final LockKey PERMIT = new LockKey(LockKind.SEMAPHORE, NAME, 2);
    private static final String RW = Store.holderKey(READ);
    private static final String HELD = RW + ":held";
    private static final String CLAIMS = RW + ":claims";

    private static Store store;
    private RedisLockBackend backend;

    @BeforeAll
    static void startServer() {
        store = Store.start();
    }

    @AfterAll
    static void stopServer() {
        store.close();
    }

    @BeforeEach
    void start() {
        String flushed = store.redis().flushall();
        assertThat(flushed).isEqualTo("OK");
        backend = store.backend();
    }

    @AfterEach
    void stop() {
        Store.end(backend);
    }

    private static LockKey key(LockKind kind) {
        return LockKey.of(kind, NAME);
    }

    private static LockClaim claim(LockKey key) {
        return Store.claim(key, Waiting.NONE);
    }

    /** A writer is in the record alone, as the holder of a mutex. */
    @Test
    void writerThatBecomesAReaderGoesOnAmongTheHolders() {
        LockClaim writer = claim(WRITE);
        long token = acquired(writer);
        assertThat(store.keys()).containsExactly(RW);
        String since = store.redis().get(RW).split(" ", -1)[4];
        LockClaim reader = new LockClaim(READ, writer.id(), writer.lease(), Waiting.NONE, 2, 0, 1, "");
        assertThat(acquired(reader)).isEqualTo(token);
        assertThat(store.redis().hget(CLAIMS, ' ' + writer.id()))
                .startsWith(
                        "read 2 %016d %d %s ".formatted(token, writer.lease().toMillis(), since));
        assertThat(store.redis().zcard(HELD)).isEqualTo(1);
        assertThat(store.keys()).containsExactlyInAnyOrder(RW, HELD, CLAIMS);
        assertThat(Store.answer(backend.tryAcquire(writer.withAttempt(3)))).isInstanceOf(LockAttempt.Contended.class);
        assertThat(store.redis().hget(CLAIMS, ' ' + writer.id())).startsWith("read 2 ");
        assertThat(Store.answer(backend.release(reader))).isEqualTo(Ownership.HELD);
    }

    @ParameterizedTest
    @EnumSource(names = {"READ", "SEMAPHORE"})
    void cycleLeavesOnlyTheExpiringRecord(LockKind kind) {
        LockClaim claim = claim(key(kind));
        acquired(claim);
        String holder = Store.holderKey(claim.key());
        assertThat(store.keys()).containsExactlyInAnyOrder(holder, holder + ":held", holder + ":claims");
        assertThat(Store.answer(backend.release(claim))).isEqualTo(Ownership.HELD);
        assertThat(store.keys()).containsExactly(holder);
        assertThat(store.redis().pttl(holder))
                .isBetween(
                        Duration.ofMinutes(119).toMillis(), Duration.ofHours(2).toMillis());
    }

    @Test
    void everyKeyExpires() {
        acquired(claim(READ));
        queued(Store.claim(WRITE, Waiting.QUEUE));
        LockClaim notified = Store.claim(WRITE, Waiting.NOTIFY);
        Disposable watch = backend.watch(notified).subscribe();
        Store.answer(backend.tryAcquire(notified));
        Store.answer(backend.release(claim(READ)));
        assertThat(store.keys())
                .hasSize(6)
                .allSatisfy(key -> assertThat(store.redis().pttl(key)).as(key).isPositive());
        watch.dispose();
    }

    @Test
    void keysOutliveTheLongestLeaseThatUsesThem() {
        acquired(claim(READ));
        acquired(LockClaim.first(READ, "short", Duration.ofSeconds(1), Waiting.NONE));
        queued(Store.claim(WRITE, Waiting.QUEUE));
        queued(LockClaim.first(WRITE, "short too", Duration.ofSeconds(1), Waiting.QUEUE));
        List<String> lasting = List.of(RW, HELD, RW + ":queue", CLAIMS);
        assertThat(lasting)
                .allSatisfy(key -> assertThat(store.redis().pttl(key)).as(key).isGreaterThan(25_000));
    }

    /** A renewed share outlives the record, whose time a renewal does not touch. */
    @ParameterizedTest
    @EnumSource(names = {"WRITE", "SEMAPHORE"})
    void theNextWaiterIsServedWithoutTheRecord(LockKind kind) {
        LockClaim holder = claim(kind == LockKind.WRITE ? READ : key(kind));
        acquired(holder);
        LockClaim waiter = Store.claim(key(kind), Waiting.QUEUE);
        Disposable watch = backend.watch(waiter).subscribe();
        queued(waiter);
        store.redis().del(Store.holderKey(holder.key()));

        assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);

        assertThat(Store.answer(backend.renew(waiter))).isInstanceOf(Renewal.Held.class);
        watch.dispose();
    }

    @Test
    void aQueueLastsAsLongAsItsLastWaiterBehindAReaderToo() {
        LockClaim reader = LockClaim.first(READ, "reader@x", Duration.ofSeconds(2), Waiting.NONE);
        acquired(reader);
        LockClaim brief = LockClaim.first(WRITE, "brief@x", Duration.ofSeconds(1), Waiting.QUEUE);
        LockClaim briefToo = LockClaim.first(WRITE, "brief too@x", Duration.ofSeconds(1), Waiting.QUEUE);
        Disposable watch = backend.watch(brief).subscribe();
        queued(brief);
        queued(briefToo);
        assertThat(Store.answer(backend.renew(reader.withLease(Store.LEASE)))).isInstanceOf(Renewal.Held.class);
        assertThat(Store.answer(backend.release(reader))).isEqualTo(Ownership.HELD);
        assertThat(store.redis().pttl(RW + ":queue")).isLessThan(4_000);

        queued(Store.claim(WRITE, Waiting.QUEUE));

        assertThat(store.redis().pttl(RW + ":queue")).isGreaterThan(25_000);
        watch.dispose();
    }

    @Test
    void theNextAttemptEndsOnlyTheHolderWhoseLeaseIsOver() {
        LockClaim lasting = claim(READ);
        acquired(lasting);
        LockClaim brief = LockClaim.first(READ, "brief", Duration.ofMillis(20), Waiting.NONE);
        acquired(brief);
        ClientOverRedis.pause(Duration.ofMillis(30));
        assertThat(Store.answer(backend.renew(brief))).isEqualTo(new Renewal.NotHeld());
        assertThat(store.redis().zcard(HELD)).as("a renewal ends no holder").isEqualTo(2);
        acquired(claim(READ));
        assertThat(store.redis().zrange(HELD, 0, -1)).hasSize(2).doesNotContain("brief");
        assertThat(store.redis().hlen(CLAIMS)).isEqualTo(2);
        assertThat(Store.answer(backend.release(brief))).isEqualTo(Ownership.NOT_HELD);
        assertThat(Store.answer(backend.renew(lasting))).isInstanceOf(Renewal.Held.class);
    }

    @Test
    void floorOfOneReaderDoesNotLowerTheCounterOfTheOthers() {
        LockClaim first = claim(READ);
        long low = acquired(first);
        long high = acquired(claim(READ).withTokenFloor(low + 3_600_000_000L));
        assertThat(acquired(first.withTokenFloor(low + 1_800_000_000L))).isEqualTo(low + 1_800_000_000L);
        assertThat(acquired(claim(READ))).isGreaterThan(high);
    }

    /** Its attempt also serves the readers behind it, each with a later token. */
    @Test
    void aReaderWhoseTurnComesWithItsAttemptGetsItsOwnToken() {
        acquired(LockClaim.first(WRITE, "brief", Duration.ofMillis(50), Waiting.NONE));
        LockClaim first = Store.claim(READ, Waiting.QUEUE);
        LockClaim second = Store.claim(READ, Waiting.QUEUE);
        Disposable watch = backend.watch(second).subscribe();
        queued(first);
        queued(second);
        ClientOverRedis.pause(Duration.ofMillis(60));

        long token = acquired(first.withAttempt(2));

        assertThat(store.redis().zcard(HELD)).isEqualTo(2);
        assertThat(store.redis().hget(CLAIMS, ' ' + first.id())).startsWith("read 2 " + token + ' ');
        watch.dispose();
    }

    @Test
    void answeredClaimsLeaveNoTombstone() {
        LockClaim reader = Store.claim(READ, Waiting.QUEUE);
        acquired(reader);
        LockClaim writer = Store.claim(WRITE, Waiting.QUEUE);
        queued(writer);
        Store.answer(backend.release(writer));
        Store.answer(backend.release(reader));
        assertThat(store.keys()).containsExactly(RW);
    }

    @Test
    void releaseAfterAnUnansweredAttemptLeavesATombstoneThatExpires() {
        LockClaim warmUp = claim(PERMIT);
        acquired(warmUp);
        LockClaim claim = claim(READ);
        // Cancelled in flight: this test does not know whether the server has seen it.
        store.server.pause();
        backend.tryAcquire(claim).subscribe().dispose();
        store.server.resume();
        Store.answer(backend.release(claim));
        assertThat(store.redis().pttl(RW + ":gone")).isBetween(1L, 30_000L);
        assertThat(Store.answer(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Contended.class);
        assertThat(store.redis().exists(HELD)).isZero();
    }

    /** The server remembers of an interested claim the number of its attempt; a later one may still be under way. */
    @Test
    void attemptUnderWayOfAClaimThatWantsAHintTakesNothingAfterItsRelease() {
        LockClaim writer = claim(WRITE);
        acquired(writer);
        LockClaim claim = Store.claim(READ, Waiting.NOTIFY);
        Disposable watch = backend.watch(claim).subscribe();
        contended(claim);
        contended(claim.withAttempt(2));
        assertThat(store.keys()).contains(RW + ":interest");
        Store.answer(backend.release(claim.withAttempt(3)));
        Store.answer(backend.release(writer));
        contended(claim.withAttempt(3));
        assertThat(store.redis().exists(HELD)).isZero();
        watch.dispose();
    }

    @Test
    void claimThatWantsAHintAndWasAnsweredLeavesNoTombstone() {
        LockClaim writer = claim(WRITE);
        acquired(writer);
        LockClaim claim = Store.claim(READ, Waiting.NOTIFY);
        Disposable watch = backend.watch(claim).subscribe();
        contended(claim);
        contended(claim.withAttempt(2));
        Store.answer(backend.release(claim.withAttempt(2)));
        Store.answer(backend.release(writer));
        assertThat(store.keys()).containsExactly(RW);
        watch.dispose();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "MUTEX")
    void foreignKeyIsNeverOverwrittenAndNamedInTheError(LockKind kind) {
        String holder = Store.holderKey(key(kind));
        store.redis().set(holder, "theirs");
        assertForeign(kind, holder);
        assertThat(store.redis().get(holder)).isEqualTo("theirs");
    }

    /** A later version, and the form before versions. */
    @ParameterizedTest
    @ValueSource(strings = {"2S00000000000000001", "a later form", "1S0short", "1S9000000000000001"})
    void recordOfAnotherFormIsNeverChanged(String record) {
        String holder = Store.holderKey(READ);
        store.redis().set(holder, record);
        assertThatThrownBy(() -> Store.answer(backend.tryAcquire(claim(READ))))
                .isInstanceOf(LockBackendException.class);
        assertThat(store.redis().get(holder)).isEqualTo(record);
        assertThat(store.keys()).containsExactly(holder);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "MUTEX")
    void aNewerFormAsksForAnUpgradeOfTheClient(LockKind kind) {
        LockClaim claim = claim(key(kind));
        store.redis().set(Store.holderKey(key(kind)), "2S00000000000000001");
        for (Mono<?> request :
                List.<Mono<?>>of(backend.tryAcquire(claim), backend.release(claim), backend.adopt(claim, 1))) {
            assertThatThrownBy(() -> Store.answer(request))
                    .hasMessageContaining("a newer version of this library has written the lock: upgrade this client");
        }
        assertThat(Store.answer(backend.renew(claim))).isEqualTo(new Renewal.NotHeld());
        assertThat(store.keys()).containsExactly(Store.holderKey(key(kind)));
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "MUTEX")
    void foreignSortedSetIsNeverChanged(LockKind kind) {
        String holder = Store.holderKey(key(kind));
        store.redis().zadd(holder, 1, "theirs");
        assertForeign(kind, holder);
        assertThat(store.redis().zrangeWithScores(holder, 0, -1)).containsExactly(ScoredValue.just(1, "theirs"));
    }

    /** A holder of this library has an entry beside it. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "MUTEX")
    void foreignSetOfHoldersIsNeverChanged(LockKind kind) {
        String held = Store.holderKey(key(kind)) + ":held";
        store.redis().zadd(held, 1, "theirs");
        assertThatThrownBy(() -> Store.answer(backend.tryAcquire(claim(key(kind)))))
                .isInstanceOf(LockBackendException.class);
        assertThat(Store.answer(backend.renew(claim(key(kind))))).isEqualTo(new Renewal.NotHeld());
        assertThat(store.redis().zrangeWithScores(held, 0, -1)).containsExactly(ScoredValue.just(1, "theirs"));
        assertThat(store.keys()).containsExactly(held);
    }

    private void assertForeign(LockKind kind, String holder) {
        for (Waiting waiting : Waiting.values()) {
            LockClaim claim = Store.claim(key(kind), waiting);
            assertThatThrownBy(() -> Store.answer(backend.tryAcquire(claim)))
                    .isInstanceOfSatisfying(LockBackendException.class, e -> {
                        assertThat(e.isTransient()).isFalse();
                        assertThat(e.lockName()).isEqualTo(NAME);
                        assertThat(e).hasMessageContaining(holder).hasMessageContaining("holds a foreign value");
                    });
            assertThat(Store.answer(backend.renew(claim))).isEqualTo(new Renewal.NotHeld());
            assertThat(Store.answer(backend.release(claim))).isEqualTo(Ownership.NOT_HELD);
        }
        assertThat(store.keys()).filteredOn(it -> !it.contains(":gone:")).containsExactly(holder);
    }

    @Test
    void foreignKeyBesideTheLockIsAnErrorBeforeAnythingIsWritten() {
        for (String beside : List.of(":queue", ":claims", ":held", ":gone", ":interest", ":aside")) {
            acquired(LockClaim.first(READ, "holder", Store.LEASE, Waiting.NONE));
            store.redis().del(RW + beside);
            store.redis().sadd(RW + beside, "theirs");
            List<String> before = store.keys();
            assertThatThrownBy(() -> Store.answer(backend.tryAcquire(Store.claim(WRITE, Waiting.QUEUE))))
                    .as(beside)
                    .isInstanceOfSatisfying(
                            LockBackendException.class,
                            e -> assertThat(e.isTransient()).isFalse());
            assertThat(store.keys()).as(beside).containsExactlyInAnyOrderElementsOf(before);
            assertThat(store.redis().smembers(RW + beside)).containsExactly("theirs");
            store.redis().flushall();
        }
    }

    @Test
    void mixedBatchOfRenewalsIsOneCommandAndAnsweredInOrder() {
        List<LockClaim> held = new ArrayList<>();
        for (LockKey key : List.of(READ, LockKey.of(LockKind.MUTEX, NAME), READ, PERMIT, PERMIT)) {
            held.add(claim(key));
        }
        held.forEach(this::acquired);
        List<LockClaim> batch = new ArrayList<>(held);
        batch.add(1, claim(WRITE));
        batch.add(3, claim(LockKey.of(LockKind.MUTEX, NAME)));
        Store.answer(backend.renewAll(batch).collectList()); // the server knows the scripts from here on
        store.redis().configResetstat();

        List<Renewal> answers = Store.answer(backend.renewAll(batch).collectList());

        Renewal yes = new Renewal.Held(Store.LEASE);
        Renewal no = new Renewal.NotHeld();
        assertThat(answers).containsExactly(yes, no, yes, no, yes, yes, yes);
        assertThat(store.calls("evalsha")).isOne();
    }

    @Test
    void everyRenewalHasItsOwnLease() {
        LockClaim first = claim(READ);
        LockClaim longer = LockClaim.first(READ, "longer", Duration.ofMinutes(5), Waiting.NONE);
        acquired(first);
        acquired(longer.withAttempt(1));
        Store.answer(backend.renewAll(List.of(longer, first)).collectList());
        assertThat(store.redis().pttl(HELD)).isBetween(290_000L, 301_000L);
        double apart = store.redis().zscore(HELD, "longer") - store.redis().zscore(HELD, first.id());
        assertThat(apart).isBetween(269e6, 271e6);
    }

    @Test
    void foreignKeyInABatchDoesNotFailTheOthers() {
        store.redis().set(Store.holderKey(PERMIT), "theirs");
        LockClaim first = claim(READ);
        acquired(first);
        assertThat(Store.answer(backend.renewAll(List.of(claim(PERMIT), first)).collectList()))
                .containsExactly(new Renewal.NotHeld(), new Renewal.Held(Store.LEASE));
    }

    @Test
    void uncontendedCycleIsFourteenCallsInsideTheServer() {
        cycle();
        store.redis().configResetstat();
        cycle();
        long inside = List.of(
                        "exists", "time", "get", "set", "hget", "hmget", "hset", "hdel", "pexpire", "pttl", "zadd",
                        "zrem", "zrange", "zcard", "zscore", "zrank", "del", "publish", "pubsub")
                .stream()
                .mapToLong(store::calls)
                .sum();
        assertThat(inside).isEqualTo(14);
    }

    @Test
    void queueOfAKilledClientCostsOnePublish() {
        RedisLockBackend killed = store.backend();
        LockClaim holder = claim(WRITE);
        acquired(holder);
        List<Disposable> watches = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            LockClaim waiter = Store.claim(READ, Waiting.QUEUE);
            watches.add(killed.watch(waiter).subscribe());
            assertThat(Store.answer(killed.tryAcquire(waiter))).isInstanceOf(LockAttempt.Queued.class);
        }
        Store.end(killed);
        ClientOverRedis.eventually(() -> store.redis().pubsubChannels().size() == 1);
        store.redis().configResetstat();
        assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);
        assertThat(store.calls("publish")).isEqualTo(1);
        acquired(claim(WRITE));
        watches.forEach(Disposable::dispose);
    }

    private void cycle() {
        LockClaim claim = claim(READ);
        acquired(claim);
        assertThat(Store.answer(backend.release(claim))).isEqualTo(Ownership.HELD);
    }

    private void contended(LockClaim claim) {
        assertThat(Store.answer(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Contended.class);
    }

    private void queued(LockClaim claim) {
        assertThat(Store.answer(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Queued.class);
    }

    @CanIgnoreReturnValue
    private long acquired(LockClaim claim) {
        LockAttempt answer = Store.answer(backend.tryAcquire(claim));
        assertThat(answer).isInstanceOf(LockAttempt.Acquired.class);
        return ((LockAttempt.Acquired) answer).fencingToken();
    }
}
