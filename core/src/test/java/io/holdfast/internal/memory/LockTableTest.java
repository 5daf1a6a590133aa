package io.holdfast.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.LockWaiter;
import io.holdfast.internal.timing.Tombstones;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockAttempt.Acquired;
import io.holdfast.spi.LockAttempt.Contended;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockRun;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LockTableTest {

    private static final Duration LEASE = Duration.ofSeconds(3);

    private static final List<Waiting> WAYS_TO_WAIT = List.of(Waiting.values());

    private final LockTable table = new LockTable(id -> true, 0);

    @Test
    void attemptThatArrivesAfterItsReleaseTakesNothing() {
        LockClaim withdrawn = claim("stock", "a", Waiting.QUEUE);
        assertThat(table.release(withdrawn, 0).answer()).isEqualTo(Ownership.NOT_HELD);
        assertThat(table.tryAcquire(withdrawn, 1).answer()).isInstanceOf(Contended.class);
        assertThat(table.contents(1)).isEmpty();
    }

    @Test
    void claimWhoseAttemptsAreAllAnsweredLeavesNoTombstone() {
        LockClaim answered = claim("stock", "a", Waiting.NONE);
        assertThat(table.tryAcquire(answered, 0).answer()).isInstanceOf(Acquired.class);
        assertThat(table.release(answered, 0).answer()).isEqualTo(Ownership.HELD);
        assertThat(table.tombstones(0)).isZero();
    }

    @Test
    void claimWithAnAttemptUnderWayLeavesATombstone() {
        LockClaim claim = claim("stock", "a", Waiting.NONE);
        assertThat(table.tryAcquire(claim, 0).answer()).isInstanceOf(Acquired.class);
        assertThat(table.release(claim.withAttempt(2), 0).answer()).isEqualTo(Ownership.HELD);
        assertThat(table.tryAcquire(claim.withAttempt(2), 1).answer()).isInstanceOf(Contended.class);
    }

    @Test
    void tombstonesExpire() {
        assertThat(table.release(claim("stock", "a", Waiting.NONE), 0).answer()).isEqualTo(Ownership.NOT_HELD);
        assertThat(table.tombstones(Tombstones.LASTS_NANOS - 1)).isEqualTo(1);
        assertThat(table.tombstones(Tombstones.LASTS_NANOS)).isZero();
    }

    private void ask(LockClaim claim) {
        assertThat(table.tryAcquire(claim, 0).answer()).isNotInstanceOf(Contended.class);
    }

    @Test
    void aRunHasABoundedNumberOfMembers() {
        ask(claim("stock", "holder", Waiting.QUEUE));
        for (int i = 0; i < 3 * LockQueue.MOST_MEMBERS; i++) {
            ask(claim("stock", "a" + i, Waiting.QUEUE).withClient("A"));
        }
        Outcome<Ownership> released = table.release(claim("stock", "holder", Waiting.QUEUE), 1);
        WatchSignal.GrantedRun granted =
                (WatchSignal.GrantedRun) released.pushes().get(0).signal();
        assertThat(granted.run().members()).hasSize(LockQueue.MOST_MEMBERS);
        assertThat(granted.run().members().get(0)).isEqualTo("a0");
    }

    /** Its client does not confirm the grant, so its members are passed over, and keep their places. */
    @Test
    void aRunWhoseClientIsGoneHoldsUpAStrangerForAClaimTime() {
        Duration lease = Duration.ofSeconds(30);
        LockKey key = LockKey.of(LockKind.MUTEX, "stock");
        ask(LockClaim.first(key, "holder", lease, Waiting.QUEUE));
        for (String id : List.of("a1@A", "a2@A")) {
            ask(LockClaim.first(key, id, lease, Waiting.QUEUE).withClient("A"));
        }
        LockClaim stranger = LockClaim.first(key, "b", lease, Waiting.QUEUE);
        ask(stranger);
        assertThat(table.release(LockClaim.first(key, "holder", lease, Waiting.QUEUE), 0)
                        .answer())
                .isEqualTo(Ownership.HELD);
        assertThat(table.serveAfterExpiries(LockTable.CLAIM_NANOS - 1)).isEmpty();
        assertThat(table.serveAfterExpiries(LockTable.CLAIM_NANOS))
                .extracting(Push::claimId)
                .containsExactly("b");
    }

    @Test
    void waitersAreReportedInOrderAfterTheirRunHasExpired() {
        Duration lease = Duration.ofSeconds(30);
        LockKey key = LockKey.of(LockKind.MUTEX, "stock");
        LockClaim holder = LockClaim.first(key, "holder", lease, Waiting.QUEUE);
        ask(holder);
        for (String id : List.of("a1@A", "a2@A")) {
            ask(LockClaim.first(key, id, lease, Waiting.QUEUE).withClient("A"));
        }
        ask(LockClaim.first(key, "b", lease, Waiting.QUEUE));
        assertThat(table.release(holder, 0).answer()).isEqualTo(Ownership.HELD);
        assertThat(table.serveAfterExpiries(LockTable.CLAIM_NANOS))
                .extracting(Push::claimId)
                .containsExactly("b");
        assertThat(table.reports("stock", LockTable.CLAIM_NANOS).get(0).waiters())
                .extracting(LockWaiter::claimId)
                .containsExactly("a1@A", "a2@A");
    }

    /**
     * The first member has no open watch, so its client cannot serve it, and does not confirm the grant of the run. The
     * attempts of the first member show that the client is alive.
     */
    @Test
    void firstMemberThatAsksWithoutItsClientKeepsItsPlace() {
        ask(claim("stock", "holder", Waiting.QUEUE));
        LockClaim first = claim("stock", "a1", Waiting.QUEUE).withClient("A");
        ask(first);
        ask(claim("stock", "a2", Waiting.QUEUE).withClient("A"));
        assertThat(table.release(claim("stock", "holder", Waiting.QUEUE), 0).pushes())
                .extracting(Push::claimId)
                .containsExactly("a1");
        LockClaim polling = first.withAttempt(2).withClient("");
        assertThat(table.tryAcquire(polling, LEASE.toNanos() / 3).answer()).isInstanceOf(LockAttempt.Queued.class);
        assertThat(table.serveAfterExpiries(LockTable.CLAIM_NANOS))
                .extracting(Push::claimId)
                .containsExactly("a1");
    }

    /** Its client could not serve it, and counts the lease from that attempt. */
    @Test
    void grantAfterARunNamesTheLastAttemptOfItsFirstMember() {
        LockClaim holder = claim("stock", "holder", Waiting.QUEUE);
        ask(holder);
        LockClaim first = claim("stock", "a1", Waiting.QUEUE).withClient("A");
        ask(first);
        ask(claim("stock", "a2", Waiting.QUEUE).withClient("A"));
        long number = run(table.release(holder, 0)).number();
        long second = Duration.ofSeconds(1).toNanos();
        assertThat(table.tryAcquire(first.withAttempt(2), second).answer()).isInstanceOf(LockAttempt.AcquiredRun.class);
        assertThat(table.endRun(first, number, 0, 2 * second).pushes())
                .containsExactly(new Push("a1", new WatchSignal.Granted(number + 2, 2, LEASE)));
    }

    @Test
    void lateEndOfAnEarlierBrokenRunStillTakesItsServedMembers() {
        LockClaim holder = claim("stock", "holder", Waiting.QUEUE);
        ask(holder);
        for (int i = 0; i < 5; i++) {
            ask(claim("stock", "a" + i, Waiting.QUEUE).withClient("A"));
        }
        ask(claim("stock", "b", Waiting.QUEUE).withClient("B"));
        long first = run(table.release(holder, 0)).number();
        Outcome<Ownership> broken = table.breakHold(holder.key(), "a0", 0);
        assertThat(run(broken).members()).containsExactly("a1", "a2", "a3", "a4");
        LockRun last = run(table.breakHold(holder.key(), "a1", 0));
        assertThat(last.members()).containsExactly("a2", "a3", "a4");
        LockClaim client = claim("stock", "a2", Waiting.QUEUE).withClient("A");
        assertThat(table.endRun(client, first, 5, 0).answer().ownership()).isEqualTo(Ownership.NOT_HELD);
        assertThat(table.endRun(client, last.number(), 1, 0).pushes())
                .extracting(Push::claimId)
                .containsExactly("b");
    }

    @Test
    void memberOfALaterRunThatALateEndTakesOutTakesNothing() {
        LockKey key = LockKey.of(LockKind.WRITE, "stock");
        LockClaim holder = LockClaim.first(key, "holder", LEASE, Waiting.QUEUE);
        ask(holder);
        for (int i = 0; i < 4; i++) {
            ask(LockClaim.first(key, "a" + i, LEASE, Waiting.QUEUE).withClient("A"));
        }
        long first = run(table.release(holder, 0)).number();
        LockRun later = run(table.breakHold(key, "a0", 0));
        assertThat(later.members()).containsExactly("a1", "a2", "a3");
        LockClaim client = LockClaim.first(key, "a1", LEASE, Waiting.QUEUE).withClient("A");
        assertThat(table.endRun(client, first, 3, 0).answer().ownership()).isEqualTo(Ownership.NOT_HELD);
        LockClaim reading = LockClaim.first(LockKey.of(LockKind.READ, "stock"), "a2", LEASE, Waiting.NONE)
                .withClient("A")
                .withAttempt(2);
        assertThat(table.tryAcquire(reading, 0).answer()).isInstanceOf(Contended.class);
        assertThat(table.endRun(client, later.number(), 0, 0).pushes())
                .extracting(Push::claimId)
                .containsExactly("a3");
    }

    /** A thread of the client is slow, and the lock is broken again and again meanwhile. */
    @Test
    void lateEndOfABrokenRunTakesItsServedMembersHoweverManyRunsWereBrokenSince() {
        LockClaim holder = claim("stock", "holder", Waiting.QUEUE);
        ask(holder);
        for (int i = 0; i < 20; i++) {
            ask(claim("stock", "a" + i, Waiting.QUEUE).withClient("A"));
        }
        ask(claim("stock", "b", Waiting.QUEUE).withClient("B"));
        long first = run(table.release(holder, 0)).number();
        long last = first;
        for (int i = 0; i < 10; i++) {
            last = run(table.breakHold(holder.key(), "a" + i, 0)).number();
        }
        LockClaim client = claim("stock", "a10", Waiting.QUEUE).withClient("A");
        assertThat(table.endRun(client, first, 20, 0).answer().ownership()).isEqualTo(Ownership.NOT_HELD);
        assertThat(table.endRun(client, last, 1, 0).pushes())
                .extracting(Push::claimId)
                .containsExactly("b");
    }

    /** The answer is lost, and the lock goes from client to client until the client sends the request again. */
    @Test
    void repeatedEndOfARunGetsTheSameAnswerHoweverManyRunsOfOthersFollowed() {
        LockClaim holder = claim("stock", "holder", Waiting.QUEUE);
        ask(holder);
        for (int i = 0; i < 20; i++) {
            ask(claim("stock", "c" + i, Waiting.QUEUE).withClient("client " + i / 2));
        }
        LockRun first = run(table.release(holder, 0));
        LockRun last = first;
        for (int i = 0; i < 9; i++) {
            last = run(end(i, last));
        }
        assertThat(end(0, first).answer().ownership()).isEqualTo(Ownership.HELD);
        assertThat(end(9, last).answer().ownership()).isEqualTo(Ownership.HELD);
    }

    private Outcome<LockRun.End> end(int client, LockRun run) {
        LockClaim claim = claim("stock", run.members().get(0), Waiting.QUEUE).withClient("client " + client);
        return table.endRun(claim, run.number(), run.members().size(), 0);
    }

    private static LockRun run(Outcome<?> outcome) {
        return outcome.pushes().stream()
                .map(Push::signal)
                .filter(WatchSignal.GrantedRun.class::isInstance)
                .map(it -> ((WatchSignal.GrantedRun) it).run())
                .findFirst()
                .orElseThrow();
    }

    @Test
    void expiredLocksAreRemovedByRequestsForOtherLocks() {
        for (int i = 0; i < 100; i++) {
            assertThat(table.tryAcquire(claim("lock " + i, "a" + i, Waiting.NONE), 0)
                            .answer())
                    .isInstanceOf(Acquired.class);
        }
        assertThat(table.contents(0)).hasSize(100);
        assertThat(table.renew(claim("other", "b", Waiting.NONE), LEASE.toNanos())
                        .answer())
                .isEqualTo(new Renewal.NotHeld());
        assertThat(table.contents(0)).as("gone, whatever the time").isEmpty();
    }

    @Test
    void readAndWriteOfOneNameAreOneLockAndTheOtherKindsAreOthers() {
        assertThat(take(LockKind.READ, "r")).isInstanceOf(Acquired.class);
        assertThat(take(LockKind.WRITE, "w")).isInstanceOf(Contended.class);
        assertThat(take(LockKind.MUTEX, "m")).isInstanceOf(Acquired.class);
        assertThat(take(LockKind.SEMAPHORE, "s")).isInstanceOf(Acquired.class);
    }

    private LockAttempt take(LockKind kind, String id) {
        return table.tryAcquire(LockClaim.first(LockKey.of(kind, "stock"), id, LEASE, Waiting.NONE), 0)
                .answer();
    }

    @Test
    void tokensRiseOverAllNames() {
        assertThat(table.tryAcquire(claim("x", "a", Waiting.NONE), 0).answer()).isEqualTo(new Acquired(1, LEASE));
        assertThat(table.tryAcquire(claim("y", "b", Waiting.NONE), 0).answer()).isEqualTo(new Acquired(2, LEASE));
        assertThat(table.tryAcquire(claim("x", "c", Waiting.NONE), LEASE.toNanos())
                        .answer())
                .isEqualTo(new Acquired(3, LEASE));
    }

    /** Never two clients believe that they hold the lock, whatever the order of requests, and tokens rise. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void randomHistoriesNeverHaveTwoOwners(long seed) {
        Random random = new Random(seed);
        Map<String, Long> validUntil = new HashMap<>();
        Map<String, Long> attemptedAt = new HashMap<>();
        long lastToken = 0;
        long now = 0;
        for (int step = 0; step < 20_000; step++) {
            now += random.nextInt(100) * 1_000_000L;
            long time = now;
            String id = "c" + random.nextInt(6) + "-" + step / 200;
            Waiting waiting = WAYS_TO_WAIT.get(random.nextInt(3));
            LockClaim claim = claim("stock", id, waiting).withAttempt(step + 1);
            Iterable<Push> pushes;
            if (random.nextInt(4) > 0) {
                attemptedAt.put(id, now);
                Outcome<LockAttempt> outcome = table.tryAcquire(claim, now);
                pushes = outcome.pushes();
                if (outcome.answer() instanceof Acquired acquired) {
                    validUntil.put(id, now + acquired.lease().toNanos());
                    lastToken = Math.max(lastToken, acquired.fencingToken());
                }
            } else {
                pushes = table.release(claim, now).pushes();
                validUntil.remove(id);
            }
            for (Push push : pushes) {
                if (push.signal() instanceof WatchSignal.Granted granted) {
                    assertThat(granted.fencingToken()).isGreaterThan(lastToken);
                    lastToken = granted.fencingToken();
                    long sent = attemptedAt.getOrDefault(push.claimId(), now);
                    validUntil.put(push.claimId(), sent + granted.lease().toNanos());
                }
            }
            validUntil.values().removeIf(until -> until <= time);
            assertThat(validUntil).as("believers at step %d", step).hasSizeLessThanOrEqualTo(1);
        }
    }

    private static LockClaim claim(String name, String id, Waiting waiting) {
        return LockClaim.first(LockKey.of(LockKind.MUTEX, name), id, LEASE, waiting);
    }
}
