package io.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/** The order of the signals of one watch, its demand, and its ends. */
class SignalSinkTest {

    private static final int THREADS = 4;
    private static final int SIGNALS = 20_000;

    private final List<Object> told = Collections.synchronizedList(new ArrayList<>());
    private final List<SignalSink> cancelled = new ArrayList<>();
    private Consumer<Subscription> onSubscribe = subscription -> {};
    private Consumer<WatchSignal> onNext = signal -> {};
    private final SignalSink sink = new SignalSink(
            "id",
            new CoreSubscriber<>() {
                @Override
                public void onSubscribe(Subscription subscription) {
                    onSubscribe.accept(subscription);
                }

                @Override
                public void onNext(WatchSignal signal) {
                    told.add(signal);
                    onNext.accept(signal);
                }

                @Override
                public void onError(Throwable error) {
                    told.add(error);
                }

                @Override
                public void onComplete() {
                    throw new AssertionError("a watch lasts until it is cancelled");
                }
            },
            cancelled::add);

    @Test
    void signalsAndAnErrorBeforeTheHandOverComeAfterTheSubscription() {
        IllegalStateException refused = new IllegalStateException("refused");
        onSubscribe = subscription -> {
            told.add("subscribed");
            subscription.request(Long.MAX_VALUE);
        };
        signal(new WatchSignal.Armed());
        sink.fail(refused);
        assertThat(told).isEmpty();

        sink.handOver();

        assertThat(told).containsExactly("subscribed", new WatchSignal.Armed(), refused);
    }

    @Test
    void signalsBeforeTheFirstRequestAreKeptInTheirOrder() {
        sink.handOver();
        signal(new WatchSignal.Armed());
        signal(granted(7));
        assertThat(told).isEmpty();

        sink.request(Long.MAX_VALUE);

        assertThat(told).containsExactly(new WatchSignal.Armed(), granted(7));
        signal(new WatchSignal.Changed());
        assertThat(told).hasSize(3);
    }

    @Test
    void noMoreSignalsAreEmittedThanRequested() {
        sink.handOver();
        for (int i = 0; i < 4; i++) {
            signal(granted(i));
        }

        sink.request(2);
        assertThat(told).containsExactly(granted(0), granted(1));
        sink.request(1);
        sink.request(2);
        signal(granted(4));
        signal(granted(5));

        assertThat(told).containsExactly(granted(0), granted(1), granted(2), granted(3), granted(4));
    }

    @Test
    void aSignalThatASignalCausesComesAfterIt() {
        takesAll();
        List<String> order = new ArrayList<>();
        onNext = signal -> {
            order.add("begins");
            if (order.size() == 1) {
                signal(new WatchSignal.Changed());
            }
            order.add("ends");
        };

        signal(new WatchSignal.Armed());

        assertThat(order).containsExactly("begins", "ends", "begins", "ends");
    }

    /** The channel, the pacing of attempts and the attempts themselves signal a watch, each on a thread of its own. */
    @Test
    void noSignalOfAnyThreadIsLostAndThoseOfOneKeepTheirOrder() throws InterruptedException {
        sink.handOver();
        CountDownLatch ended = new CountDownLatch(THREADS);
        for (int i = 0; i < THREADS; i++) {
            int attempt = i + 1;
            new Thread(() -> {
                        for (int token = 0; token < SIGNALS; token++) {
                            signal(new WatchSignal.Granted(token, attempt, Duration.ofSeconds(2)));
                        }
                        ended.countDown();
                    })
                    .start();
        }
        for (int i = 0; i < THREADS * SIGNALS; i++) {
            sink.request(1);
        }
        assertThat(ended.await(20, TimeUnit.SECONDS)).isTrue();

        assertThat(told).hasSize(THREADS * SIGNALS);
        for (int i = 1; i <= THREADS; i++) {
            int attempt = i;
            assertThat(told)
                    .extracting(WatchSignal.Granted.class::cast)
                    .filteredOn(grant -> grant.attempt() == attempt)
                    .extracting(WatchSignal.Granted::fencingToken)
                    .isSorted();
        }
    }

    @Test
    void aFailureComesAfterTheSignalsBeforeIt() {
        IllegalStateException refused = new IllegalStateException("of the test");
        sink.handOver();
        signal(new WatchSignal.Armed());
        signal(new WatchSignal.Changed());
        sink.fail(refused);

        sink.request(1);
        assertThat(told).as("one was requested").containsExactly(new WatchSignal.Armed());
        sink.request(1);

        assertThat(told).containsExactly(new WatchSignal.Armed(), new WatchSignal.Changed(), refused);
        signal(new WatchSignal.Changed());
        sink.fail(new IllegalStateException("once more"));
        sink.cancel();
        assertThat(told).hasSize(3);
        assertThat(cancelled).isEmpty();
    }

    @Test
    void nothingIsEmittedAfterACancellation() {
        takesAll();
        onNext = signal -> sink.cancel();
        signal(new WatchSignal.Armed());
        signal(new WatchSignal.Changed());
        sink.fail(new IllegalStateException("of the test"));
        sink.cancel();

        assertThat(told).containsExactly(new WatchSignal.Armed());
        assertThat(cancelled).containsExactly(sink);
    }

    @Test
    void aSubscriberThatThrowsHasLeftAndGetsWhatItThrew() {
        takesAll();
        IllegalStateException thrown = new IllegalStateException("of the test");
        onNext = signal -> {
            throw thrown;
        };

        signal(new WatchSignal.Armed());
        signal(new WatchSignal.Changed());

        assertThat(told).containsExactly(new WatchSignal.Armed(), thrown);
        assertThat(cancelled).containsExactly(sink);
    }

    private void takesAll() {
        sink.handOver();
        sink.request(Long.MAX_VALUE);
    }

    private void signal(WatchSignal signal) {
        sink.accept(signal);
        if (sink.isDue()) {
            sink.run();
        }
    }

    private static WatchSignal.Granted granted(long token) {
        return new WatchSignal.Granted(token, 1, Duration.ofSeconds(2));
    }
}
