package io.holdfast.etcd;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.options.GetOption;
import io.holdfast.LockKind;
import io.holdfast.LockQueueFullException;
import io.holdfast.etcd.Tampering.Fate;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Requests that arrive late, and answers that are lost. The time of the back end is virtual. */
class EtcdLateIT {

    private static final Duration LEASE = Duration.ofSeconds(4);

    /** Of the lease in etcd that suits a holder. */
    private static final Duration TIME_TO_LIVE = Duration.ofSeconds(7);

    private static EtcdStore store;
    private static LockBackend others;

    private final Tampering tampering = new Tampering(store.client());
    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final EtcdLockBackend backend = EtcdLockBackend.builder(tampering.client())
            .maxWaiters(1)
            .timer(time)
            .build();
    private final LockKey key;
    private final LockClaim holder;
    private final LockClaim waiter;
    private final LockClaim claim;

    EtcdLateIT(TestInfo test) {
        key = LockKey.of(LockKind.MUTEX, test.getTestMethod().orElseThrow().getName());
        holder = claim();
        waiter = claim();
        claim = claim();
    }

    private LockClaim claim() {
        return LockClaim.first(key, UUID.randomUUID().toString(), LEASE, io.holdfast.spi.Waiting.QUEUE);
    }

    @BeforeAll
    static void start() {
        store = EtcdStore.start();
        others = EtcdLockBackend.builder(store.client())
                .presence(Duration.ofSeconds(60)) // it has more time for each request about its lease
                .build();
    }

    @AfterAll
    static void stop() {
        if (store != null) {
            Waiting.forMono(others.close().thenReturn(true));
            store.close();
        }
    }

    @AfterEach
    void close() {
        for (LockClaim it : List.of(holder, waiter, claim)) {
            Waiting.forMono(others.release(it.withAttempt(9)));
        }
        Waiting.forMono(backend.close().thenReturn(true));
    }

    private LockAttempt attempt(int number) {
        return Waiting.forMono(backend.tryAcquire(claim.withAttempt(number)));
    }

    /** Sends an attempt, catches the request, and gives the attempt up. */
    private void giveUp(int number) {
        var attempt = backend.tryAcquire(claim.withAttempt(number)).subscribe();
        tampering.untilCaught();
        attempt.dispose();
    }

    private void hold() {
        assertThat(Waiting.forMono(others.tryAcquire(holder))).isInstanceOf(LockAttempt.Acquired.class);
    }

    private boolean isFree() {
        LockClaim other = claim().withWaiting(io.holdfast.spi.Waiting.NONE);
        boolean isFree = Waiting.forMono(others.tryAcquire(other)) instanceof LockAttempt.Acquired;
        Waiting.forMono(others.release(other));
        return isFree;
    }

    private long places() {
        String part = "/" + key.name() + "/";
        return store.claims().stream().filter(it -> it.contains(part)).count();
    }

    /** There is one waiter too many. Its place is about to be deleted, and that arrives late. */
    private void refusalArrivesLate() {
        hold();
        assertThat(Waiting.forMono(others.tryAcquire(waiter))).isInstanceOf(LockAttempt.Queued.class);
        tampering.catchNext(Tampering::isDeletion, Fate.ARRIVES_LATE);
        giveUp(1);
    }

    private void allLeave() {
        Waiting.forMono(others.release(holder));
        Waiting.forMono(others.release(waiter));
    }

    @Test
    void lateRefusalDoesNotDeleteThePlaceOfAHolder() {
        refusalArrivesLate();
        allLeave();
        assertThat(attempt(2)).isInstanceOf(LockAttempt.Acquired.class);
        tampering.letGo();
        assertThat(isFree()).isFalse();
        assertThat(Waiting.forMono(backend.renew(claim))).isInstanceOf(Renewal.Held.class);
    }

    @Test
    void claimWhoseRefusalIsLateIsRefusedAgainWhileTooManyWait() {
        refusalArrivesLate();
        assertThatThrownBy(() -> attempt(2)).isInstanceOf(LockQueueFullException.class);
        tampering.letGo();
        assertThat(places()).isEqualTo(2);
    }

    @Test
    void attemptCountsTheLeaseThatALostAnswerHasMovedItsPlaceTo() {
        refusalArrivesLate();
        allLeave();
        long presence = lease();
        tampering.catchNext(Tampering::isMove, Fate.IS_ANSWERED_LATE);
        giveUp(2);
        Waiting.until("the place is moved", () -> lease() != presence);
        Duration later = LEASE.multipliedBy(9).dividedBy(10);
        time.advanceTimeBy(later);
        Waiting.until("its former lease is kept alive", () -> tampering.leases.contains("keepAliveOnce"));
        assertThat(attempt(3))
                .isInstanceOfSatisfying(
                        LockAttempt.Acquired.class,
                        acquired -> assertThat(acquired.lease()).isLessThanOrEqualTo(TIME_TO_LIVE.minus(later)));
    }

    /** {@return the etcd lease of its place} */
    private long lease() {
        GetOption all = GetOption.builder().isPrefix(true).build();
        Layout layout = new Layout("holdfast/", "client");
        var line = Waiting.forMono(Answers.of(() -> store.eye().getKVClient().get(layout.line(key), all)));
        return requireNonNull(layout.placeOf(claim.id(), line)).lease();
    }

    @Test
    void waiterThatWasSilentForItsLeaseMayComeBack() {
        hold();
        tampering.catchNext(Tampering::isEntry, Fate.IS_ANSWERED_LATE);
        giveUp(1);
        Waiting.until("it waits", () -> places() == 2);
        time.advanceTimeBy(LEASE);
        Waiting.until("it does not wait any more", () -> places() == 1);
        assertThat(attempt(2)).isInstanceOf(LockAttempt.Queued.class);
    }

    @Test
    void attemptThatArrivesAfterTheEndOfASilentClaimLeavesNothing() {
        hold();
        tampering.catchNext(Tampering::isEntry, Fate.ARRIVES_LATE);
        giveUp(1);
        time.advanceTimeBy(LEASE);
        tampering.letGo();
        Waiting.until("its place is deleted", () -> {
            time.advanceTimeBy(Duration.ofSeconds(1));
            return places() == 1;
        });
    }

    /** Thousands may time out at once. The line is as long as their number. */
    @Test
    void withdrawalOfAWaiterOnlyDeletes() {
        hold();
        assertThat(attempt(1)).isInstanceOf(LockAttempt.Queued.class);
        tampering.catchNext(Tampering::isDeletion, Fate.ARRIVES_LATE);
        CompletableFuture<Ownership> withdrawal = backend.release(claim).toFuture();
        tampering.untilCaught();
        tampering.letGo();
        assertThat(withdrawal).succeedsWithin(Waiting.PATIENCE).isEqualTo(Ownership.NOT_HELD);
        assertThat(places()).isEqualTo(1);
    }

    @Test
    void attemptThatWaitsForTheDeletionOfItsPlaceIsKnownAfterwards() {
        assertThat(attempt(1)).isInstanceOf(LockAttempt.Acquired.class);
        tampering.catchNext(Tampering::isDeletion, Fate.ARRIVES_LATE);
        time.advanceTimeBy(LEASE);
        tampering.untilCaught();
        CompletableFuture<LockAttempt> second =
                backend.tryAcquire(claim.withAttempt(2)).toFuture();
        tampering.letGo();
        assertThat(second).succeedsWithin(Waiting.PATIENCE).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(backend.contents()).singleElement().asString().contains(claim.id(), "holds");
    }

    @Test
    void attemptWhoseLeaseEndsBeforeItsAnswerEntersAgain() {
        hold();
        tampering.catchNext(Tampering::isEntry, Fate.IS_ANSWERED_LATE);
        CompletableFuture<LockAttempt> first = backend.tryAcquire(claim).toFuture();
        Waiting.until("it waits", () -> places() == 2);
        long presence = lease();
        Waiting.forMono(Answers.of(() -> store.eye().getLeaseClient().revoke(presence)));
        Waiting.until("the client knows that its lease has ended", () -> {
            time.advanceTimeBy(Duration.ofMillis(10));
            return tampering.leases.stream().filter("grant"::equals).count() == 2;
        });
        tampering.letGo();
        assertThat(first).succeedsWithin(Waiting.PATIENCE).isInstanceOf(LockAttempt.Queued.class);
        assertThat(places()).isEqualTo(2);
    }

    /** It comes back as another attempt at most, and need not come back at all. */
    @Test
    void tryWhoseTurnIsLateLeavesNoPosition() {
        tampering.catchNext(Tampering::isEntry, Fate.ARRIVES_LATE);
        CompletableFuture<LockAttempt> first = backend.tryAcquire(waiter).toFuture();
        tampering.untilCaught();
        LockClaim brief = claim.withWaiting(io.holdfast.spi.Waiting.NONE);
        CompletableFuture<LockAttempt> tried = backend.tryAcquire(brief).toFuture();
        Waiting.until("its turn is late", () -> {
            time.advanceTimeBy(Duration.ofMillis(100));
            return tried.isDone();
        });
        assertThat(tried).isCompletedWithValueMatching(LockAttempt.Contended.class::isInstance);
        tampering.letGo();
        assertThat(first).succeedsWithin(Waiting.PATIENCE).isInstanceOf(LockAttempt.Acquired.class);
        Waiting.forMono(backend.release(waiter));
        assertThat(backend.contents()).isEmpty();
    }
}
