package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.etcd.jetcd.ByteSequence;
import io.holdfast.LockKind;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.test.scheduler.VirtualTimeScheduler;

class ClaimsTest {

    private final LockClaim claim =
            LockClaim.first(LockKey.of(LockKind.MUTEX, "stock"), "a-claim", Duration.ofSeconds(9), Waiting.QUEUE);
    private final Layout layout = new Layout("holdfast/", "client");
    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final List<Watches.Wish> wishes = new ArrayList<>();
    private final Claims claims = new Claims(new Slots(layout), time, wishes::add, overdue -> {}, () -> {});
    private final Flux<WatchSignal> watch = new Flux<>() {
        @Override
        public void subscribe(CoreSubscriber<? super WatchSignal> subscriber) {
            claims.signals().subscribe(claim.id(), subscriber, id -> {});
        }
    };

    @Test
    void claimWaitsWhileItIsWatchedAndNotReleased() {
        assertThat(claims.isWaiting(claim.id())).isFalse();
        Tracked it = claims.of(claim);
        Disposable first = watch.subscribe();
        Disposable second = watch.subscribe();
        first.dispose();
        assertThat(claims.isWaiting(claim.id())).isTrue();
        boolean unused = it.release(1);
        assertThat(claims.isWaiting(claim.id())).isFalse();
        second.dispose();
        assertThat(claims.isWaiting(claim.id())).isFalse();
    }

    /** An answer may come after the release. */
    @Test
    void claimThatHasEndedFollowsNone() {
        Tracked it = claims.of(claim);
        Tracked before = new Tracked(claim, overdue -> {});
        ByteSequence own = claims.slot(it);
        ByteSequence blocker = claims.slot(before);
        claims.remove(it);
        claims.follow(it, own, blocker, wish(5, blocker));
        assertThat(claims.followers().take(before, blocker, layout)).isNull();
    }

    private Watches.Wish wish(long created, ByteSequence blocker) {
        return new Watches.Wish(
                claim.id(),
                layout.line(claim.key()),
                blocker,
                created,
                1,
                new Transactions.Answer(true, List.of(), created));
    }

    /** Another claim of this client with a place. */
    private Tracked other(long created) {
        LockClaim before = LockClaim.first(claim.key(), "before", claim.lease(), Waiting.QUEUE);
        Tracked other = claims.of(before);
        assertThat(claims.slot(other)).isNotNull();
        other.placed(LockKind.MUTEX, created, new EtcdLease(1, 1_000));
        return other;
    }

    @CanIgnoreReturnValue
    private Tracked follows(Tracked other, long created) {
        Tracked it = claims.of(claim);
        claims.follow(it, claims.slot(it), claims.slot(other), wish(created, claims.slot(other)));
        return it;
    }

    @Test
    void waiterBehindAnotherOfItsClientNeedsNoWatchAndIsToldOfItsEnd() {
        List<WatchSignal> signals = new ArrayList<>();
        watch.subscribe(signals::add);
        Tracked other = other(5);
        follows(other, 7);
        time.advanceTimeBy(Duration.ofSeconds(60));
        assertThat(wishes).isEmpty();
        claims.remove(other);
        time.advanceTime();
        assertThat(signals).hasExactlyElementsOfTypes(WatchSignal.Armed.class, WatchSignal.Changed.class);
    }

    /** Another client may adopt the holder, and release it. */
    @Test
    void waiterBehindAHolderOfItsClientHasAWatchAfterAWhile() {
        Tracked other = other(5);
        other.hold(5);
        follows(other, 7);
        assertThat(wishes).isEmpty();
        time.advanceTimeBy(Duration.ofMillis(100));
        assertThat(wishes).hasSize(1);
        time.advanceTimeBy(Duration.ofSeconds(60));
        assertThat(wishes).hasSize(1);
    }

    /** Its end may have been missed. */
    @Test
    void waiterBehindAClaimThatIsGoneHasAWatchAtOnce() {
        Tracked other = other(5);
        boolean unused = other.release(1);
        follows(other, 7);
        assertThat(wishes).hasSize(1);
    }

    /** The claim before it had that key before. */
    @Test
    void waiterBehindALaterClaimHasAWatchAtOnce() {
        follows(other(9), 7);
        assertThat(wishes).hasSize(1);
    }

    @Test
    void waiterWhosePredecessorHasLostItsPlaceHasAWatchAfterAWhile() {
        Tracked other = other(5);
        follows(other, 7);
        boolean unused = other.lose();
        time.advanceTimeBy(Duration.ofMillis(100));
        assertThat(wishes).hasSize(1);
    }

    /** It comes behind this one then, with the same key, and another claim comes behind it. */
    @Test
    void waiterWhosePredecessorHasEnteredAgainHasAWatch() {
        Tracked other = other(5);
        ByteSequence blocker = claims.slot(other);
        follows(other, 7);
        follows(other, 7); // it has looked again
        assertThat(wishes).isEmpty();
        boolean unused = other.lose();
        other.placed(LockKind.MUTEX, 9, new EtcdLease(1, 1_000));
        Tracked last = claims.of(LockClaim.first(claim.key(), "last", claim.lease(), Waiting.QUEUE));
        claims.follow(last, claims.slot(last), blocker, wish(11, blocker));
        time.advanceTimeBy(Duration.ofSeconds(60));
        assertThat(wishes).extracting(Watches.Wish::created).containsExactly(7L);
    }

    @Test
    void noTaskRepeatsWhenAllHaveEnded() {
        Tracked other = other(5);
        Tracked it = follows(other, 7);
        claims.remove(it);
        claims.remove(other);
        time.advanceTimeBy(Duration.ofMillis(100));
        long scheduled = time.getScheduledTaskCount();
        time.advanceTimeBy(Duration.ofSeconds(60));
        assertThat(time.getScheduledTaskCount()).isEqualTo(scheduled);
    }

    /** Of a semaphore, or a read lock, the claim that enters may get a share at once. */
    @Test
    void releaseIsFollowedByThoseOfOtherClaimsOfAMutex() {
        Tracked it = claims.of(claim);
        assertThat(claims.slot(it)).isNotNull();
        assertThat(claims.isFollowed(it)).isFalse();
        assertThat(claims.isFollowed(other(5))).isTrue();
        assertThat(claims.isFollowed(it)).isTrue();
        LockKey permits = new LockKey(LockKind.SEMAPHORE, "stock", 2);
        Tracked first = claims.of(LockClaim.first(permits, "first", claim.lease(), Waiting.QUEUE));
        Tracked second = claims.of(LockClaim.first(permits, "second", claim.lease(), Waiting.QUEUE));
        assertThat(claims.slot(first)).isNotNull();
        assertThat(claims.slot(second)).isNotNull();
        assertThat(claims.isFollowed(first)).isFalse();
    }

    /** Another attempt of the claim has left its slot already: the claim that is there keeps it. */
    @Test
    void slotIsLeftOnceOnly() {
        Tracked it = claims.of(claim);
        ByteSequence first = claims.slot(it);
        claims.leaveSlot(it, first);
        ByteSequence second = claims.slot(it);
        assertThat(second).isNotEqualTo(first);
        claims.leaveSlot(it, first);
        assertThat(claims.slot(it)).isEqualTo(second);
    }
}
