package io.holdfast.r2dbc.internal.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.r2dbc.internal.protocol.Push;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.Deadlines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.test.scheduler.VirtualTimeScheduler;

/** When a claim at the head of its queue sends its next attempt. */
class WatchesTest {

    private static final Duration CLAIM_TIME = Duration.ofSeconds(2);
    private static final WatchSignal GRANTED = new WatchSignal.Granted(8, 1, Duration.ofSeconds(30));

    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final List<LockClaim> givenBack = new ArrayList<>();
    private final Watches watches = new Watches(new Deadlines(time), time, CLAIM_TIME, givenBack::add);

    @Test
    void claimAtTheHeadTriesAgainAfterAClaimTime() {
        List<WatchSignal> signals = new ArrayList<>();
        Disposable watch = watch("head", signals);
        watches.deliver(new Push("head", null));
        time.advanceTimeBy(CLAIM_TIME.minusMillis(1));
        assertThat(signals).isEmpty();
        time.advanceTimeBy(Duration.ofMillis(1));
        assertThat(signals).containsExactly(new WatchSignal.Changed());
        watch.dispose();
    }

    @Test
    void claimServedBeforeThatDoesNotTryAgain() {
        List<WatchSignal> signals = new ArrayList<>();
        Disposable watch = watch("head", signals);
        watches.deliver(new Push("head", null));
        watches.deliver(new Push("head", GRANTED));
        time.advanceTimeBy(CLAIM_TIME.multipliedBy(2));
        assertThat(signals).containsExactly(GRANTED);
        watch.dispose();
    }

    /** A task for each hand-off would wake the timer's thread for each of them. */
    @Test
    void headsOfAThousandHandOffsShareOneTaskOfTheTimer() {
        IntStream.range(0, 1_000).forEach(i -> {
            Disposable watch = watch("head" + i, new ArrayList<>());
            watches.deliver(new Push("head" + i, null));
            watches.deliver(new Push("head" + i, GRANTED));
            watch.dispose();
        });
        assertThat(time.getScheduledTaskCount()).isEqualTo(1);
    }

    @Test
    void grantToAClaimThatLeftWhileItWaitedGoesBack() {
        watch("left", new ArrayList<>()).dispose();

        watches.deliver(new Push("left", GRANTED));

        assertThat(givenBack).hasSize(1);
    }

    /** The grant was the exporter's, in this client, and comes late. Another client may have adopted the lease since. */
    @Test
    void grantToAnAdoptedClaimDoesNotGoBack() {
        watch("adopted", Waiting.NONE, new ArrayList<>()).dispose();

        watches.deliver(new Push("adopted", GRANTED));

        assertThat(givenBack).isEmpty();
    }

    /** The connection of the messages is faster than that of the attempts. */
    @Test
    void answerFromBeforeTheGrantDoesNotMakeTheHolderAWaiter() {
        Disposable watch = watch("held", new ArrayList<>());
        watches.deliver(new Push("held", GRANTED));

        watches.answered(claim("held", Waiting.QUEUE), new LockAttempt.Queued(CLAIM_TIME));

        assertThat(watches.hasWaiting()).isFalse();
        watch.dispose();
        watches.deliver(new Push("held", GRANTED));
        assertThat(givenBack).isEmpty();
    }

    @Test
    void answerFromAfterTheGrantMakesTheClaimWait() {
        Disposable watch = watch("late", new ArrayList<>());
        watches.deliver(new Push("late", GRANTED));

        watches.answered(claim("late", Waiting.QUEUE).withAttempt(2), new LockAttempt.Queued(CLAIM_TIME));

        assertThat(watches.hasWaiting()).isTrue();
        watch.dispose();
    }

    /** The first grant came too late, so the client sends attempt 2. The connection of the messages is faster than its answer. */
    @Test
    void grantThatOvertakesTheAnswerToAnAttemptIsNotLost() {
        WatchSignal next = new WatchSignal.Granted(12, 2, CLAIM_TIME);
        List<WatchSignal> signals = new ArrayList<>();
        Disposable watch = watch("late", signals);
        watches.deliver(new Push("late", GRANTED));
        LockClaim second = claim("late", Waiting.QUEUE).withAttempt(2);

        assertThat(watches.beginAttempt(second)).isTrue();
        watches.deliver(new Push("late", next));
        watches.answered(second, new LockAttempt.Queued(CLAIM_TIME));

        assertThat(signals).containsExactly(GRANTED, next);
        assertThat(watches.hasWaiting()).isFalse();
        watch.dispose();
    }

    /** The attempt went out with the former name of the channel. */
    @Test
    void claimWhoseAttemptIsUnderWayLearnsThatTheChannelIsNew() {
        List<WatchSignal> signals = new ArrayList<>();
        Disposable watch = watch("late", signals);
        watches.deliver(new Push("late", GRANTED));
        watches.disarm();

        assertThat(watches.beginAttempt(claim("late", Waiting.QUEUE).withAttempt(2)))
                .isTrue();
        watches.arm();

        assertThat(signals).containsExactly(GRANTED, new WatchSignal.Armed());
        watch.dispose();
    }

    /** A second attempt goes out after the grant, and has no answer. The lease may be exported by now. */
    @Test
    void repeatedGrantToAClaimThatWasGrantedDoesNotGoBack() {
        Disposable watch = watch("exported", new ArrayList<>());
        watches.deliver(new Push("exported", GRANTED));
        assertThat(watches.beginAttempt(claim("exported", Waiting.QUEUE).withAttempt(2)))
                .isTrue();
        watch.dispose();

        watches.deliver(new Push("exported", GRANTED));

        assertThat(givenBack).isEmpty();
    }

    /** The grant that comes first answers attempt 1, and is too late. */
    @Test
    void grantOfAnEarlierAttemptDoesNotHideThatOfTheAttemptUnderWay() {
        WatchSignal next = new WatchSignal.Granted(12, 2, CLAIM_TIME);
        List<WatchSignal> signals = new ArrayList<>();
        Disposable watch = watch("late", signals);
        assertThat(watches.beginAttempt(claim("late", Waiting.QUEUE).withAttempt(2)))
                .isTrue();

        watches.deliver(new Push("late", GRANTED));
        watches.deliver(new Push("late", next));

        assertThat(signals).containsExactly(GRANTED, next);
        assertThat(watches.hasWaiting()).isFalse();
        watch.dispose();
    }

    @Test
    void attemptThatDoesNotWaitMakesNoWaiter() {
        Disposable watch = watch("held", Waiting.NONE, new ArrayList<>());

        assertThat(watches.beginAttempt(claim("held", Waiting.NONE).withAttempt(2)))
                .isTrue();

        assertThat(watches.hasWaiting()).isFalse();
        watch.dispose();
    }

    @Test
    void leaseThatNeverWaitedIsNoWaiter() {
        List<WatchSignal> signals = new ArrayList<>();
        Disposable watch = watch("held", Waiting.NONE, signals);

        watches.arm();
        watches.deliver(new Push("held", new WatchSignal.Changed()));

        assertThat(watches.hasWaiting()).isFalse();
        assertThat(signals).isEmpty();
        watch.dispose();
    }

    private Disposable watch(String id, List<WatchSignal> signals) {
        return watch(id, Waiting.QUEUE, signals);
    }

    private Disposable watch(String id, Waiting waiting, List<WatchSignal> signals) {
        return watches.watch(claim(id, waiting)).subscribe(signals::add);
    }

    private static LockClaim claim(String id, Waiting waiting) {
        return LockClaim.first(LockKey.of(LockKind.MUTEX, "orders"), id, Duration.ofSeconds(30), waiting);
    }
}
