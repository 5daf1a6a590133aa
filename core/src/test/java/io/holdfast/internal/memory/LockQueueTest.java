package io.holdfast.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockKind;
import io.holdfast.LossReason;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockAttempt.Acquired;
import io.holdfast.spi.LockAttempt.Contended;
import io.holdfast.spi.LockAttempt.Queued;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The rules of the queue, one by one: state, request and time go in; answer and pushes come out. */
class LockQueueTest {

    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final long START = Long.MAX_VALUE - 5; // nanoTime may overflow: only differences count

    private final Set<String> unwatched = new HashSet<>();
    private final Tokens tokens = new Tokens();
    private final long[] examined = new long[1];
    private final LockQueue queue = new LockQueue(tokens, id -> !unwatched.contains(id), examined);

    @Test
    void freeLockGoesToTheNextAttempt() {
        assertThat(tryAcquire(mutex("a", Waiting.NONE), 0)).isEqualTo(new Acquired(1, LEASE));
    }

    @Test
    void attemptThatDoesNotWaitLeavesNothing() {
        take("a", 0);
        assertThat(tryAcquire(mutex("b", Waiting.NONE), 0)).isInstanceOf(Contended.class);
        assertThat(queue.contents()).singleElement().asString().contains("held by claim a");
    }

    @Test
    void waitersQueueInOrderAndAreGrantedByPush() {
        take("a", 0);
        queueUp("b", 0);
        queueUp("c", 100);
        Outcome<Ownership> outcome = queue.release(mutex("a", Waiting.NONE), at(1_000));
        assertThat(outcome.answer()).isEqualTo(Ownership.HELD);
        // The claim time is 2 s; the attempt was 1 s before the grant, so the client may count 3 s from the send time.
        assertThat(outcome.pushes())
                .containsExactly(new Push("b", new WatchSignal.Granted(2, 1, Duration.ofSeconds(3))));
    }

    @Test
    void claimTimeIsNotLongerThanTheLease() {
        take("a", 0);
        Duration lease = Duration.ofMillis(900);
        LockClaim brief = LockClaim.first(LockKey.of(LockKind.MUTEX, "stock"), "b", lease, Waiting.QUEUE);
        tryAcquire(brief, 0);
        assertThat(queue.release(mutex("a", Waiting.NONE), at(0)).pushes())
                .containsExactly(new Push("b", new WatchSignal.Granted(2, 1, lease)));
    }

    @Test
    void unconfirmedGrantEndsAfterTheClaimTimeAndTheNextAttemptFindsIt() {
        take("a", 0);
        queueUp("b", 0);
        queueUp("c", 0);
        release("a", 0);
        assertThat(tryAcquire(again("c", 2), 1_999)).isInstanceOf(Queued.class);
        assertThat(tryAcquire(again("c", 3), 2_000)).isEqualTo(new Acquired(3, LEASE));
        assertThat(queue.renew(mutex("b", Waiting.QUEUE), at(2_000)).answer()).isEqualTo(new Renewal.NotHeld());
    }

    @Test
    void renewalConfirmsAGrant() {
        take("a", 0);
        queueUp("b", 0);
        release("a", 0);
        assertThat(queue.renew(mutex("b", Waiting.QUEUE), at(1_999)).answer()).isEqualTo(new Renewal.Held(LEASE));
        assertThat(tryAcquire(mutex("c", Waiting.NONE), 31_998)).isInstanceOf(Contended.class);
        assertThat(tryAcquire(mutex("c", Waiting.NONE), 31_999)).isInstanceOf(Acquired.class);
    }

    @Test
    void renewalOfAnExpiredLeaseIsRefusedEvenIfTheLockIsFree() {
        take("a", 0);
        assertThat(queue.renew(mutex("a", Waiting.NONE), at(30_000)).answer()).isEqualTo(new Renewal.NotHeld());
        assertThat(tryAcquire(mutex("b", Waiting.NONE), 30_000)).isInstanceOf(Acquired.class);
    }

    @Test
    void attemptThatFindsAnExpiryGrantsTheFirstWaiterAndNotItself() {
        take("a", 0);
        queueUp("b", 20_000);
        Outcome<LockAttempt> outcome = queue.tryAcquire(mutex("c", Waiting.NONE), at(30_000));
        assertThat(outcome.answer()).isInstanceOf(Contended.class);
        assertThat(outcome.pushes())
                .containsExactly(new Push("b", new WatchSignal.Granted(2, 1, Duration.ofSeconds(12))));
    }

    @Test
    void unwatchedWaiterIsPassedOverAndKeepsItsPlace() {
        take("a", 0);
        queueUp("b", 0);
        queueUp("c", 0);
        unwatched.add("b");
        assertThat(queue.release(mutex("a", Waiting.NONE), at(0)).pushes())
                .extracting(Push::claimId)
                .containsExactly("c");
        unwatched.clear();
        queue.watched("b");
        assertThat(queue.release(mutex("c", Waiting.NONE), at(0)).pushes())
                .extracting(Push::claimId)
                .containsExactly("b");
    }

    @Test
    void waiterWithoutAWatchIsGrantedByItsOwnAttempt() {
        take("a", 0);
        unwatched.add("b");
        queueUp("b", 0);
        assertThat(queue.release(mutex("a", Waiting.NONE), at(0)).pushes()).isEmpty();
        assertThat(tryAcquire(again("b", 2), 10)).isInstanceOf(Acquired.class);
    }

    @Test
    void waiterIsStaleAfterHalfItsLease() {
        take("a", 0);
        queueUp("b", 0);
        assertThat(queue.lastAttempt("b")).isEqualTo(1);
        queue.settle(at(14_999));
        assertThat(queue.lastAttempt("b")).isEqualTo(1);
        queue.settle(at(15_000));
        assertThat(queue.lastAttempt("b")).isZero();
    }

    @Test
    void overtakenAttemptGetsAnAnswerButChangesNothing() {
        take("a", 0);
        tryAcquire(again("b", 3), 0);
        assertThat(tryAcquire(again("b", 2), 10_000)).isInstanceOf(Queued.class);
        Outcome<Ownership> outcome = queue.release(mutex("a", Waiting.NONE), at(10_000));
        assertThat(outcome.pushes())
                .containsExactly(new Push("b", new WatchSignal.Granted(2, 3, Duration.ofSeconds(12))));
    }

    @Test
    void overtakenAttemptOfAHolderDoesNotExtend() {
        tryAcquire(again("a", 2), 0);
        assertThat(tryAcquire(again("a", 1), 10_000)).isEqualTo(new Acquired(1, Duration.ofSeconds(20)));
        assertThat(tryAcquire(mutex("b", Waiting.NONE), 30_000)).isInstanceOf(Acquired.class);
    }

    @Test
    void attemptAgainFollowsTheHoldersRestThePlaceAndTheLease() {
        take("a", 0);
        assertThat(tryAcquire(mutex("b", Waiting.QUEUE), 0)).as("claim time").isEqualTo(queued(2_000));
        assertThat(tryAcquire(mutex("c", Waiting.QUEUE), 0)).as("claim time").isEqualTo(queued(2_000));
        assertThat(tryAcquire(mutex("d", Waiting.QUEUE), 0))
                .as("a third of the lease")
                .isEqualTo(queued(10_000));
        assertThat(tryAcquire(again("b", 2), 14_000)).isEqualTo(queued(2_000));
        assertThat(tryAcquire(again("b", 3), 28_500)).isEqualTo(queued(1_510));
    }

    @Test
    void notifiedClaimGetsOneSignalAndHasNoPlace() {
        take("a", 0);
        assertThat(tryAcquire(mutex("b", Waiting.NOTIFY), 0)).isInstanceOf(Contended.class);
        assertThat(queue.release(mutex("a", Waiting.NONE), at(0)).pushes())
                .containsExactly(new Push("b", new WatchSignal.Changed()));
        assertThat(queue.isEmpty()).isTrue();
    }

    @Test
    void interestIsBounded() {
        take("a", 0);
        for (int i = 0; i < 1_000; i++) {
            tryAcquire(mutex("n" + i, Waiting.NOTIFY), 0);
        }
        assertThat(queue.contents()).hasSize(257);
    }

    @Test
    void waiterThatStopsWaitingLetsTheWaitersBehindItPass() {
        tryAcquire(claim(LockKind.READ, "r1", Waiting.NONE), 0);
        tryAcquire(claim(LockKind.WRITE, "w", Waiting.QUEUE), 0);
        tryAcquire(claim(LockKind.READ, "r2", Waiting.QUEUE), 0);
        LockClaim onlyAttempts = claim(LockKind.WRITE, "w", Waiting.NONE).withAttempt(2);
        assertThat(queue.tryAcquire(onlyAttempts, at(0)).pushes())
                .extracting(Push::claimId)
                .containsExactly("r2");
    }

    @Test
    void readersInFrontAreGrantedTogetherUpToTheFirstWriter() {
        tryAcquire(claim(LockKind.WRITE, "w1", Waiting.NONE), 0);
        tryAcquire(claim(LockKind.READ, "r1", Waiting.QUEUE), 0);
        tryAcquire(claim(LockKind.READ, "r2", Waiting.QUEUE), 0);
        tryAcquire(claim(LockKind.WRITE, "w2", Waiting.QUEUE), 0);
        tryAcquire(claim(LockKind.READ, "r3", Waiting.QUEUE), 0);
        assertThat(queue.release(claim(LockKind.WRITE, "w1", Waiting.NONE), at(0))
                        .pushes())
                .extracting(Push::claimId)
                .containsExactly("r1", "r2");
    }

    @Test
    void semaphoreClaimIsJudgedByItsOwnPermits() {
        tryAcquire(permit("a", 2), 0);
        tryAcquire(permit("b", 2), 0);
        assertThat(tryAcquire(permit("c", 2), 0)).isInstanceOf(Queued.class);
        assertThat(tryAcquire(permit("d", 3), 0)).as("behind a live waiter").isInstanceOf(Queued.class);
        assertThat(queue.release(permit("a", 2), at(0)).pushes())
                .extracting(Push::claimId)
                .containsExactly("c", "d");
    }

    @Test
    void expiredHolderIsNotHeldEvenIfTheLockIsFree() {
        take("a", 0);
        assertThat(release("a", 30_000)).isEqualTo(Ownership.NOT_HELD);
        assertThat(queue.isEmpty()).isTrue();
    }

    @Test
    void manyPermitsAreTakenAndReleasedTogether() {
        assertThat(tryAcquire(permits("a", 3, 5), 0)).isInstanceOf(Acquired.class);
        assertThat(tryAcquire(permits("a", 3, 5).withAttempt(2), 0)).isInstanceOf(Acquired.class);
        assertThat(tryAcquire(permits("b", 3, 5).withWaiting(Waiting.NONE), 0)).isInstanceOf(Contended.class);
        assertThat(tryAcquire(permits("c", 2, 5), 0)).isInstanceOf(Acquired.class);
        assertThat(queue.release(permit("a", 5), at(0)).answer()).isEqualTo(Ownership.HELD);
        assertThat(queue.release(permit("a", 5), at(0)).answer()).isEqualTo(Ownership.NOT_HELD);
        assertThat(tryAcquire(permits("d", 4, 5).withWaiting(Waiting.NONE), 0)).isInstanceOf(Contended.class);
        assertThat(tryAcquire(permits("d", 3, 5).withAttempt(2), 0)).isInstanceOf(Acquired.class);
    }

    @Test
    void permitsThatGetFreeAreServedFromTheHeadUntilOneDoesNotFit() {
        tryAcquire(permits("a", 4, 4), 0);
        queueUp(permits("b", 1, 4), 0);
        queueUp(permits("c", 2, 4), 0);
        queueUp(permits("d", 2, 4), 0);
        queueUp(permits("e", 1, 4), 0);
        assertThat(queue.release(permit("a", 4), at(0)).pushes())
                .extracting(Push::claimId)
                .containsExactly("b", "c");
    }

    @Test
    void permitsOfHoldersThatExpireOneByOneAddUp() {
        tryAcquire(permits("a", 1, 3), 0);
        tryAcquire(permits("b", 2, 3), 10_000);
        queueUp(permits("c", 3, 3), 16_000);
        assertThat(tryAcquire(permits("c", 3, 3).withAttempt(2), 30_000)).isInstanceOf(Queued.class);
        assertThat(tryAcquire(permits("c", 3, 3).withAttempt(3), 40_000)).isInstanceOf(Acquired.class);
        assertThat(tryAcquire(permit("d", 3).withWaiting(Waiting.NONE), 40_000)).isInstanceOf(Contended.class);
    }

    @Test
    void theLargestNumberOfPermitsDoesNotOverflow() {
        int all = Integer.MAX_VALUE;
        tryAcquire(permits("a", all, all), 0);
        assertThat(tryAcquire(permits("b", all, all).withWaiting(Waiting.NONE), 0))
                .isInstanceOf(Contended.class);
        var unused = queue.release(permit("a", all), at(0));
        assertThat(tryAcquire(permits("b", all, all).withAttempt(2), 0)).isInstanceOf(Acquired.class);
    }

    @Test
    void floorRaisesAHeldTokenAndAllLaterOnes() {
        take("a", 0);
        assertThat(tryAcquire(again("a", 2).withTokenFloor(100), 0)).isEqualTo(new Acquired(100, LEASE));
        assertThat(tryAcquire(again("a", 3).withTokenFloor(7), 0)).isEqualTo(new Acquired(100, LEASE));
        release("a", 0);
        assertThat(tryAcquire(mutex("b", Waiting.NONE), 0)).isEqualTo(new Acquired(101, LEASE));
    }

    @Test
    void floorOutOfRangeIsRefused() {
        Tokens.check(Tokens.FLOOR_LIMIT - 1);
        assertThatThrownBy(() -> Tokens.check(Tokens.FLOOR_LIMIT))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("tokenFloor");
    }

    @CanIgnoreReturnValue
    private LockAttempt tryAcquire(LockClaim claim, long millis) {
        return queue.tryAcquire(claim, at(millis)).answer();
    }

    @Test
    void tenThousandReadersCostNoMoreEachThanOne() {
        tryAcquire(claim(LockKind.WRITE, "writer", Waiting.QUEUE), 0);
        for (int i = 0; i < 10_000; i++) {
            tryAcquire(claim(LockKind.READ, "r" + i, Waiting.QUEUE), 0);
        }
        long before = examined[0];
        assertThat(queue.release(claim(LockKind.WRITE, "writer", Waiting.QUEUE), at(0))
                        .pushes())
                .hasSize(10_000);
        for (int i = 0; i < 10_000; i++) {
            assertThat(tryAcquire(claim(LockKind.READ, "r" + i, Waiting.QUEUE), 1))
                    .isInstanceOf(Acquired.class);
        }
        tryAcquire(claim(LockKind.READ, "late reader", Waiting.QUEUE), 1);
        tryAcquire(claim(LockKind.WRITE, "late writer", Waiting.QUEUE), 1);
        assertThat(examined[0] - before).isLessThan(3 * 10_000);
    }

    @Test
    void waiterOfADoubtedClientGetsItsPlaceBackWithTheNextRequestOfThatClient() {
        take("a", 0);
        queueUp("b@hung", 0);
        queueUp("c@hung", 0);
        queueUp("d@other", 0);
        queueUp("e@other", 0);
        release("a", 0);
        assertThat(queue.serveAfterExpiry(at(2_000))).extracting(Push::claimId).containsExactly("d@other");
        assertThat(tryAcquire(again("b@hung", 2), 2_100)).isInstanceOf(Queued.class);
        assertThat(queue.release(mutex("d@other", Waiting.NONE), at(2_200)).pushes())
                .extracting(Push::claimId)
                .containsExactly("c@hung");
    }

    @Test
    void waitersOfADoubtedClientAreServedByItsRenewal() {
        hungClientIsDoubted("live");
        tryAcquire(permit("live", 2), 2_100);
        release(permit("live", 2), 2_200); // c@hung is set aside beside a free permit

        Outcome<Renewal> outcome = queue.renew(permit("a@hung", 2), at(2_300));

        assertThat(outcome.answer()).isEqualTo(new Renewal.Held(LEASE));
        assertThat(outcome.pushes()).extracting(Push::claimId).containsExactly("c@hung");
    }

    @Test
    void brokenHoldIsNoSignOfLifeOfItsClient() {
        hungClientIsDoubted("d@live");
        queueUp(permit("e@live", 2), 2_100);

        assertThat(queue.breakHold("a@hung", at(2_200)).pushes())
                .contains(new Push("a@hung", new WatchSignal.Lost(LossReason.NOT_HELD)))
                .extracting(Push::claimId)
                .contains("e@live")
                .doesNotContain("c@hung");
    }

    @Test
    void doubtAboutAClientIsForgottenWithItsLastWaiter() {
        hungClientIsDoubted("d@live");
        tryAcquire(permit("d@live", 2), 2_100);
        queueUp(permit("e@live", 2), 14_000);
        queue.settle(at(16_000)); // c@hung is stale
        long before = examined[0];
        assertThat(queue.renew(permit("a@hung", 2), at(16_000)).answer()).isEqualTo(new Renewal.Held(LEASE));
        assertThat(examined[0] - before).isEqualTo(1);
    }

    @Test
    void expiryIsServedAlsoIfAnotherRequestHasFoundIt() {
        take("a", 0);
        queueUp("b", 20_000);
        queue.settle(at(30_000)); // as a request for another lock does
        assertThat(queue.serveAfterExpiry(at(30_000))).extracting(Push::claimId).containsExactly("b");
        assertThat(queue.serveAfterExpiry(at(30_001))).isEmpty();
    }

    /** One permit is held by a@hung. A grant was pushed to b@hung, and c@hung and the given claim waited behind it. */
    private void hungClientIsDoubted(String behind) {
        tryAcquire(permit("a@hung", 2), 0);
        tryAcquire(permit("x", 2), 0);
        queueUp(permit("b@hung", 2), 0);
        queueUp(permit("c@hung", 2), 0);
        queueUp(permit(behind, 2), 0);
        release(permit("x", 2), 0);
        assertThat(queue.serveAfterExpiry(at(2_000))).extracting(Push::claimId).containsExactly(behind);
    }

    private void release(LockClaim claim, long millis) {
        assertThat(queue.release(claim, at(millis)).answer()).isEqualTo(Ownership.HELD);
    }

    private void take(String id, long millis) {
        assertThat(tryAcquire(mutex(id, Waiting.NONE), millis)).isInstanceOf(Acquired.class);
    }

    private void queueUp(String id, long millis) {
        assertThat(tryAcquire(mutex(id, Waiting.QUEUE), millis)).isInstanceOf(Queued.class);
    }

    private void queueUp(LockClaim claim, long millis) {
        assertThat(tryAcquire(claim, millis)).isInstanceOf(Queued.class);
    }

    @CanIgnoreReturnValue
    private Ownership release(String id, long millis) {
        return queue.release(mutex(id, Waiting.NONE), at(millis)).answer();
    }

    private static LockAttempt queued(long millis) {
        return new Queued(Duration.ofMillis(millis));
    }

    private static long at(long millis) {
        return START + Duration.ofMillis(millis).toNanos();
    }

    private static LockClaim again(String id, int attempt) {
        return mutex(id, Waiting.QUEUE).withAttempt(attempt);
    }

    private static LockClaim mutex(String id, Waiting waiting) {
        return claim(LockKind.MUTEX, id, waiting);
    }

    private static LockClaim claim(LockKind kind, String id, Waiting waiting) {
        return LockClaim.first(LockKey.of(kind, "stock"), id, LEASE, waiting);
    }

    private static LockClaim permits(String id, int taken, int permits) {
        return permit(id, permits).withPermits(taken);
    }

    private static LockClaim permit(String id, int permits) {
        return LockClaim.first(new LockKey(LockKind.SEMAPHORE, "stock", permits), id, LEASE, Waiting.QUEUE);
    }
}
