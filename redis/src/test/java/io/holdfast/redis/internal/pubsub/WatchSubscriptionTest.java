package io.holdfast.redis.internal.pubsub;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/** The order of the signals of one watch, its demand, and its ends. */
class WatchSubscriptionTest {

    private static final int THREADS = 4;
    private static final int SIGNALS = 20_000;

    private final LockClaim claim =
            LockClaim.first(LockKey.of(LockKind.MUTEX, "orders"), "id", Duration.ofSeconds(10), Waiting.QUEUE);
    private final WatchedClaims watches = new WatchedClaims(Duration.ofSeconds(2), (pause, task) -> {}, () -> 0);
    private final List<WatchSignal> told = Collections.synchronizedList(new ArrayList<>());
    private final List<Throwable> errors = new ArrayList<>();
    private Consumer<WatchSignal> onNext = signal -> {};
    private final WatchSubscription watch = new WatchSubscription(watches, claim, new CoreSubscriber<>() {
        @Override
        public void onSubscribe(Subscription subscription) {}

        @Override
        public void onNext(WatchSignal signal) {
            told.add(signal);
            onNext.accept(signal);
        }

        @Override
        public void onError(Throwable error) {
            errors.add(error);
        }

        @Override
        public void onComplete() {
            throw new AssertionError("a watch lasts until it is cancelled");
        }
    });
    private final WatchedClaim watched = watches.add(new WatchedClaim(claim, 0, null, watch), watch);

    @BeforeEach
    void handOver() {
        watch.handOver();
    }

    @Test
    void signalsBeforeTheHandOverAreEmittedAfterwards() {
        List<String> order = new ArrayList<>();
        WatchSubscription early = new WatchSubscription(watches, claim, new CoreSubscriber<>() {
            @Override
            public void onSubscribe(Subscription subscription) {
                order.add("subscribed");
                subscription.request(Long.MAX_VALUE);
            }

            @Override
            public void onNext(WatchSignal signal) {
                order.add("signal");
            }

            @Override
            public void onError(Throwable error) {
                order.add("error");
            }

            @Override
            public void onComplete() {
                order.add("complete");
            }
        });
        early.signal(new WatchSignal.Armed());
        early.fail(new IllegalStateException("refused"));
        assertThat(order).isEmpty();

        early.handOver();

        assertThat(order).containsExactly("subscribed", "signal", "error");
    }

    private static WatchSignal.Granted granted(long token) {
        return new WatchSignal.Granted(token, 1, Duration.ofSeconds(2));
    }

    @Test
    void signalsBeforeTheFirstRequestAreKeptInTheirOrder() {
        watched.signal(new WatchSignal.Armed());
        watched.signal(granted(7));
        assertThat(told).isEmpty();

        watch.request(Long.MAX_VALUE);

        assertThat(told).containsExactly(new WatchSignal.Armed(), granted(7));
        watched.signal(new WatchSignal.Changed());
        assertThat(told).hasSize(3);
    }

    @Test
    void noMoreSignalsAreEmittedThanRequested() {
        for (int i = 0; i < 4; i++) {
            watched.signal(granted(i));
        }

        watch.request(2);
        assertThat(told).containsExactly(granted(0), granted(1));
        watch.request(1);
        watch.request(2);
        watched.signal(granted(4));
        watched.signal(granted(5));

        assertThat(told).containsExactly(granted(0), granted(1), granted(2), granted(3), granted(4));
    }

    @Test
    void aSignalThatASignalCausesComesAfterIt() {
        watch.request(Long.MAX_VALUE);
        List<String> order = new ArrayList<>();
        onNext = signal -> {
            order.add("begins");
            if (order.size() == 1) {
                watched.signal(new WatchSignal.Changed());
            }
            order.add("ends");
        };

        watched.signal(new WatchSignal.Armed());

        assertThat(order).containsExactly("begins", "ends", "begins", "ends");
    }

    /** The channel, the pacing of attempts and the attempts themselves signal a watch, each on a thread of its own. */
    @Test
    void noSignalOfAnyThreadIsLostAndThoseOfOneKeepTheirOrder() throws InterruptedException {
        CountDownLatch ended = new CountDownLatch(THREADS);
        for (int i = 0; i < THREADS; i++) {
            int attempt = i + 1;
            new Thread(() -> {
                        for (int token = 0; token < SIGNALS; token++) {
                            watched.signal(new WatchSignal.Granted(token, attempt, Duration.ofSeconds(2)));
                        }
                        ended.countDown();
                    })
                    .start();
        }
        for (int i = 0; i < THREADS * SIGNALS; i++) {
            watch.request(1);
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
        watched.signal(new WatchSignal.Armed());
        watched.fail(refused);
        watched.signal(new WatchSignal.Changed());
        assertThat(watches.size()).as("nothing is kept for it").isZero();
        assertThat(errors).isEmpty();

        watch.request(Long.MAX_VALUE);

        assertThat(told).startsWith(new WatchSignal.Armed());
        assertThat(errors).containsExactly(refused);
        watched.signal(new WatchSignal.Changed());
        watched.fail(new IllegalStateException("once more"));
        assertThat(errors).containsExactly(refused);
    }

    @Test
    void nothingIsEmittedAfterACancellation() {
        watch.request(Long.MAX_VALUE);
        onNext = signal -> watch.cancel();
        watched.signal(new WatchSignal.Armed());
        watched.signal(new WatchSignal.Changed());
        watched.fail(new IllegalStateException("of the test"));

        assertThat(told).containsExactly(new WatchSignal.Armed());
        assertThat(errors).isEmpty();
        assertThat(watches.size()).isZero();
    }

    @Test
    void aSubscriberThatThrowsKeepsNoSignalFromOthers() {
        watch.request(Long.MAX_VALUE);
        IllegalStateException thrown = new IllegalStateException("of the test");
        onNext = signal -> {
            throw thrown;
        };
        List<WatchSignal> toldToAnother = new ArrayList<>();
        WatchSubscription another = anotherWatch(toldToAnother);

        watched.signal(new WatchSignal.Armed());

        assertThat(errors).containsExactly(thrown);
        assertThat(toldToAnother).containsExactly(new WatchSignal.Armed());
        assertThat(watches.size()).isEqualTo(1);
        another.cancel();
        assertThat(watches.size()).isZero();
    }

    private WatchSubscription anotherWatch(List<WatchSignal> toldToAnother) {
        WatchSubscription another = new WatchSubscription(watches, claim, new CoreSubscriber<>() {
            @Override
            public void onSubscribe(@Nullable Subscription subscription) {}

            @Override
            public void onNext(WatchSignal signal) {
                toldToAnother.add(signal);
            }

            @Override
            public void onError(Throwable error) {}

            @Override
            public void onComplete() {}
        });
        another.handOver();
        another.request(Long.MAX_VALUE);
        assertThat(watches.add(new WatchedClaim(claim, 0, null, another), another))
                .isSameAs(watched);
        return another;
    }
}
