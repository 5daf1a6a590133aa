package io.holdfast.r2dbc.internal.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.r2dbc.internal.protocol.Push;
import io.holdfast.spi.Deadlines;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
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
    private final Watches watches = new Watches(new Deadlines(time), time, CLAIM_TIME, left -> {});

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

    private Disposable watch(String id, List<WatchSignal> signals) {
        LockKey key = LockKey.of(LockKind.MUTEX, "orders");
        return watches.watch(LockClaim.first(key, id, Duration.ofSeconds(30), Waiting.QUEUE))
                .subscribe(signals::add);
    }
}
