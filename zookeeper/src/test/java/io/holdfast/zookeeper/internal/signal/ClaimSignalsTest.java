package io.holdfast.zookeeper.internal.signal;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LossReason;
import io.holdfast.spi.WatchSignal;
import io.holdfast.zookeeper.Waiting;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.scheduler.Schedulers;

class ClaimSignalsTest {

    private static final WatchSignal ARMED = new WatchSignal.Armed();
    private static final WatchSignal CHANGED = new WatchSignal.Changed();
    private static final WatchSignal LOST = new WatchSignal.Lost(LossReason.NOT_HELD);

    private static final class Subscriber extends BaseSubscriber<WatchSignal> {

        private final long demand;
        private final List<Object> seen = new ArrayList<>();

        Subscriber(long demand) {
            this.demand = demand;
        }

        @Override
        protected void hookOnSubscribe(Subscription subscription) {
            if (demand > 0) {
                request(demand);
            }
        }

        @Override
        protected void hookOnNext(WatchSignal signal) {
            seen.add(signal);
        }

        @Override
        protected void hookOnError(Throwable error) {
            seen.add(error);
        }
    }

    private final ClaimSignals signals = new ClaimSignals(Schedulers.immediate());

    private Subscriber subscribed(long demand) {
        Subscriber subscriber = new Subscriber(demand);
        signals.of("claim").subscribe(subscriber);
        return subscriber;
    }

    @Test
    void subscriberGetsTheSignalsThatItRequests() {
        Subscriber slow = subscribed(0);
        signals.changed("claim");
        signals.changed("claim");
        signals.lost("claim", LossReason.NOT_HELD);
        assertThat(slow.seen).isEmpty();
        slow.request(1);
        assertThat(slow.seen).containsExactly(ARMED);
        slow.request(10);
        assertThat(slow.seen).containsExactly(ARMED, CHANGED, CHANGED, LOST);
        signals.changed("claim");
        assertThat(slow.seen).hasSize(5);
    }

    /** The back end is closed while the subscriber is being added. */
    @Test
    void subscriberAddedWhileTheSignalsEndGetsTheError() {
        RuntimeException closed = new IllegalStateException("closed");
        List<Object> seen = new ArrayList<>();
        signals.of("claim").subscribe(new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {
                requestUnbounded();
                signals.fail(closed);
            }

            @Override
            protected void hookOnNext(WatchSignal signal) {
                seen.add(signal);
            }

            @Override
            protected void hookOnError(Throwable error) {
                seen.add(error);
            }
        });
        assertThat(seen).containsExactly(ARMED, closed);
    }

    @Test
    void errorComesAfterTheSignalsAndIsTheLast() {
        Subscriber subscriber = subscribed(Long.MAX_VALUE);
        RuntimeException closed = new IllegalStateException("closed");
        signals.changed("claim");
        signals.fail(closed);
        assertThat(subscriber.seen).containsExactly(ARMED, CHANGED, closed);
        signals.changed("claim");
        assertThat(subscriber.seen).hasSize(3);
        assertThat(signals.count()).isZero();
        Subscriber late = subscribed(Long.MAX_VALUE);
        assertThat(late.seen).containsExactly(ARMED, closed);
        assertThat(signals.count()).isZero();
    }

    @Test
    void cancelledSubscriberIsRemovedAndTheOthersStay() {
        Subscriber first = subscribed(Long.MAX_VALUE);
        Subscriber second = subscribed(Long.MAX_VALUE);
        Subscriber third = subscribed(Long.MAX_VALUE);
        second.cancel();
        signals.changed("claim");
        assertThat(signals.count()).isEqualTo(1);
        assertThat(second.seen).containsExactly(ARMED);
        assertThat(List.of(first.seen, third.seen)).allMatch(List.of(ARMED, CHANGED)::equals);
        first.cancel();
        third.cancel();
        assertThat(signals.isWatched("claim")).isFalse();
    }

    @Test
    void subscriberThatCancelsAtOnceIsRemoved() {
        signals.of("claim").subscribe(new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {
                subscription.cancel();
            }
        });
        assertThat(signals.count()).isZero();
    }

    /** A subscriber may run the user's code on a signal: see record 0033. */
    @Test
    void signalsComeOnTheSchedulerAndNotOnTheEmittingThread() {
        ClaimSignals elsewhere = new ClaimSignals(Schedulers.parallel());
        CompletableFuture<Thread> emittedOn = new CompletableFuture<>();
        elsewhere.of("claim").filter(CHANGED::equals).subscribe(signal -> emittedOn.complete(Thread.currentThread()));
        elsewhere.changed("claim");
        assertThat(emittedOn).succeedsWithin(Waiting.PATIENCE).isNotEqualTo(Thread.currentThread());
    }

    /** Two threads emit. The subscriber receives one signal at a time, and a change after the last one. */
    @Test
    void signalsOfManyThreadsNeverOverlapAndTheLastIsNotLost() throws InterruptedException {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger overlaps = new AtomicInteger();
        AtomicInteger state = new AtomicInteger();
        AtomicInteger newestSeen = new AtomicInteger();
        signals.of("claim").subscribe(signal -> {
            overlaps.addAndGet(inside.incrementAndGet() - 1);
            newestSeen.set(state.get());
            inside.decrementAndGet();
        });
        CountDownLatch all = new CountDownLatch(2);
        IntStream.range(0, 2)
                .forEach(thread -> Schedulers.boundedElastic().schedule(() -> {
                    for (int i = 0; i < 20_000; i++) {
                        state.incrementAndGet();
                        signals.changed("claim");
                    }
                    all.countDown();
                }));
        all.await();
        assertThat(overlaps).hasValue(0);
        assertThat(newestSeen).hasValue(40_000);
    }
}
