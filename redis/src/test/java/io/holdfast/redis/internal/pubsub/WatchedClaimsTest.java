package io.holdfast.redis.internal.pubsub;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.redis.internal.protocol.ChannelMessage;
import io.holdfast.redis.internal.protocol.LockKeys;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.SignalSink;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.BaseSubscriber;

class WatchedClaimsTest {

    private static final LockKey KEY = LockKey.of(LockKind.MUTEX, "orders");
    private static final LockKeys KEYS = LockKeys.of("holdfast:", KEY);

    private final List<WatchSignal> told = new ArrayList<>();
    private final WatchedClaims watches = new WatchedClaims(Duration.ofSeconds(2), (pause, task) -> {}, () -> 0);

    private SignalSink own;
    private final WatchedClaim waiter = watched();

    /**
     * A grant may come too late, for example. A tenant with rights to the channel can repeat it for as long as the
     * claim waits.
     */
    @Test
    void aRepeatedGrantIsEmittedOnceToAClaimThatGoesOnWaiting() {
        waiter.attempts(1);
        grant(7, 1);
        waiter.attempts(2); // it sends another attempt

        for (int i = 0; i < 1_000; i++) {
            grant(7, 1);
        }

        assertThat(told).hasSize(1);
        assertThat(waiter.isWaiting()).as("the claim gets the next one").isTrue();
        grant(8, 2);
        assertThat(told).hasSize(2);
    }

    @Test
    void aGrantToAClaimThatLeftWhileItWaitedGoesBackOnce() {
        leaves("left", Waiting.QUEUE);

        assertThat(goesBack("left")).isTrue();
        assertThat(goesBack("left")).isFalse();
    }

    /** A server refuses the channel, so the claim waits without its watch, and gets the lock by an attempt. */
    @Test
    void aGrantToAClaimWhoseChannelWasRefusedDoesNotGoBack() {
        LockClaim claim = LockClaim.first(KEY, "polls", Duration.ofSeconds(10), Waiting.QUEUE);
        List<Throwable> failures = new ArrayList<>();
        SignalSink watch = watch(claim, new BaseSubscriber<>() {
            @Override
            protected void hookOnError(Throwable error) {
                failures.add(error);
            }
        });
        watch.handOver();
        WatchedClaim watched = watches.add(new WatchedClaim(claim, 0, null, watch), watch);
        watched.attempts(1);
        watches.waits("polls", 1);

        watches.fail(watched, new IllegalStateException("NOPERM"));

        assertThat(failures).hasSize(1);
        assertThat(watches.get("polls")).as("nothing is kept for it").isNull();
        assertThat(goesBack("polls")).isFalse();
    }

    /** An adopted claim: the grant was the exporter's, and came late, or a tenant with rights to the channel repeats it. */
    @Test
    void aGrantToAClaimThatNeverWaitedDoesNotGoBack() {
        leaves("adopted", Waiting.NONE);

        assertThat(goesBack("adopted")).isFalse();
    }

    /** The claim exports its lease before its attempt is answered. Then the grant is repeated. */
    @Test
    void aGrantToAClaimThatWasGrantedDoesNotGoBack() {
        waiter.attempts(1);
        grant(7, 1);
        waiter.attempts(2); // it confirms the grant by an attempt, which is not answered

        watches.remove(own);

        assertThat(goesBack("id")).isFalse();
    }

    @Test
    void aGrantToAClaimThatWasGrantedInVainAndWaitsAgainGoesBack() {
        waiter.attempts(1);
        grant(7, 1);
        waiter.attempts(2);
        watches.waits("id", 2); // its grant came too late

        watches.remove(own);

        assertThat(goesBack("id")).as("a copy of it").isFalse();
        assertThat(goesBack("id", 8)).isTrue();
    }

    /** A lease of {@code tryAcquire}, or an adopted one: any client with rights to the channel can send the hint. */
    @Test
    void aClaimThatNeverWaitsGetsNoHint() {
        LockClaim claim = LockClaim.first(KEY, "held", Duration.ofSeconds(10), Waiting.NONE);
        SignalSink watch = watch(claim);
        watch.handOver();
        WatchedClaim unused = watches.add(new WatchedClaim(claim, 0, null, watch), watch);

        watches.hinted("held");
        watches.signalAll(watched -> watched.claim().equals(claim), new WatchSignal.Armed());

        assertThat(told).isEmpty();
    }

    @Test
    void aSubscriberThatThrowsKeepsNoSignalFromTheOthersOfItsClaim() {
        LockClaim claim = waiter.claim();
        SignalSink throwing = watch(claim, new BaseSubscriber<>() {
            @Override
            protected void hookOnNext(WatchSignal signal) {
                throw new IllegalStateException("of the test");
            }
        });
        throwing.handOver();
        assertThat(watches.add(new WatchedClaim(claim, 0, null, throwing), throwing))
                .isSameAs(waiter);
        SignalSink last = watch(claim);
        last.handOver();
        assertThat(watches.add(new WatchedClaim(claim, 0, null, last), last)).isSameAs(waiter);

        waiter.signal(new WatchSignal.Armed());

        assertThat(told).containsExactly(new WatchSignal.Armed(), new WatchSignal.Armed());
        assertThat(waiter.watches()).containsExactly(own, last);
    }

    private void leaves(String id, Waiting waiting) {
        LockClaim claim = LockClaim.first(KEY, id, Duration.ofSeconds(10), waiting);
        SignalSink watch = watch(claim);
        WatchedClaim unused = watches.add(new WatchedClaim(claim, 0, null, watch), watch);
        watches.remove(watch);
    }

    private boolean goesBack(String id) {
        return goesBack(id, 7);
    }

    private boolean goesBack(String id, long token) {
        WatchSignal.Granted granted = new WatchSignal.Granted(token, 1, Duration.ofSeconds(2));
        return watches.granted(new ChannelMessage(List.of(id), granted, KEYS), watched -> KEYS.holder());
    }

    private void grant(long token, int attempt) {
        WatchSignal.Granted granted = new WatchSignal.Granted(token, attempt, Duration.ofSeconds(2));
        assertThat(watches.granted(new ChannelMessage(List.of("id"), granted, KEYS), watched -> KEYS.holder()))
                .isFalse();
    }

    private WatchedClaim watched() {
        LockClaim claim = LockClaim.first(KEY, "id", Duration.ofSeconds(10), Waiting.QUEUE);
        own = watch(claim);
        own.handOver();
        return watches.add(new WatchedClaim(claim, 0, null, own), own);
    }

    private SignalSink watch(LockClaim claim) {
        return watch(claim, new BaseSubscriber<>() {
            @Override
            protected void hookOnNext(WatchSignal signal) {
                told.add(signal);
            }
        });
    }

    private SignalSink watch(LockClaim claim, BaseSubscriber<WatchSignal> subscriber) {
        return new SignalSink(claim.id(), subscriber, watches::remove);
    }
}
