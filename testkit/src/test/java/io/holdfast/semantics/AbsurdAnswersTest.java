package io.holdfast.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LocalHandOver;
import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.scheduler.VirtualTimeScheduler;
import reactor.test.subscriber.TestSubscriber;

/** Answers of a broken or hostile back end end no wait silently, and cost no other client a lease. */
@Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AbsurdAnswersTest {

    private static final Duration WAIT = Duration.ofSeconds(5);
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
    private final ScriptedStore store = new ScriptedStore();
    private final LockClient client = LockClient.builder(store)
            .timer(clock)
            .options(LockOptions.builder().waitTimeout(WAIT).build())
            .build();

    @AfterEach
    void nothingIsLeft() {
        TestSubscriber<Void> closed = subscribe(client.close());
        assertThat(closed.isTerminatedComplete()).as("closes at once").isTrue();
        assertThat(client.toString()).contains("0 acquiring, 0 held, 0 releasing, 0 alarms");
    }

    static Stream<Duration> absurdlyLong() {
        return Stream.of(ScriptedStore.forEver(), Duration.ofMillis(Long.MAX_VALUE), Duration.ofDays(300 * 365));
    }

    static Stream<Duration> absurdlyShort() {
        return Stream.of(
                Duration.ZERO,
                Duration.ofSeconds(-1),
                Duration.ofDays(-300 * 365),
                Duration.ofMillis(Long.MIN_VALUE),
                Duration.ofSeconds(Long.MIN_VALUE));
    }

    @ParameterizedTest
    @MethodSource("absurdlyLong")
    void aLeaseForEverIsALease(Duration lease) {
        store.answer(new LockAttempt.Acquired(7, lease));
        TestSubscriber<LockLease> tried = subscribe(client.lock("a").tryAcquire());
        TestSubscriber<LockLease> acquired = subscribe(client.lock("b").acquire());

        assertThat(tried.getReceivedOnNext()).hasSize(1).allMatch(LockLease::isValid);
        assertThat(acquired.getReceivedOnNext()).hasSize(1).allMatch(LockLease::isValid);
    }

    @ParameterizedTest
    @MethodSource("absurdlyShort")
    void anEndedLeaseIsNotHandedOutAndTheWaitEndsInTime(Duration lease) {
        store.answer(new LockAttempt.Acquired(7, lease));
        TestSubscriber<LockLease> waiting = subscribe(client.lock("a").acquire());

        clock.advanceTimeBy(WAIT);

        assertThat(waiting.expectTerminalError()).isInstanceOf(LockTimeoutException.class);
        assertThat(store.attempts).hasValueLessThan(500);
        assertThat(store.released).contains("a");
    }

    @ParameterizedTest
    @MethodSource("absurdlyShort")
    void aTryThatGetsOnlyEndedLeasesEndsAndWithdraws(Duration lease) {
        store.answer(new LockAttempt.Acquired(7, lease));
        TestSubscriber<LockLease> tried = subscribe(client.lock("a").tryAcquire());

        clock.advanceTimeBy(Duration.ofMinutes(1));

        assertThat(tried.expectTerminalError()).isInstanceOf(LockBackendException.class);
        assertThat(store.attempts).hasValueLessThan(500);
        assertThat(store.released).contains("a");
    }

    @ParameterizedTest
    @MethodSource("absurdlyLong")
    void aPauseForEverEndsWithTheWait(Duration pause) {
        store.answer(new LockAttempt.Queued(pause));
        TestSubscriber<LockLease> waiting = subscribe(client.lock("a").acquire());
        store.signals.emitNext(new WatchSignal.Armed(), Sinks.EmitFailureHandler.FAIL_FAST);

        clock.advanceTimeBy(WAIT);

        assertThat(waiting.expectTerminalError()).isInstanceOf(LockTimeoutException.class);
        assertThat(store.released).contains("a");
    }

    /** Returns the store as one of those whose locks can be handed over. */
    private LockBackend queueing() {
        return new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return store;
            }

            @Override
            public Set<LockFeature> features() {
                return Set.of(LockFeature.FIFO, LockFeature.TOKEN_FLOOR);
            }
        };
    }

    @ParameterizedTest
    @MethodSource({"absurdlyLong", "absurdlyShort"})
    void anAbsurdPauseEndsWithTheWaitUnderLocalHandOverToo(Duration pause) {
        LockClient handingOver = LockClient.builder(
                        LocalHandOver.builder(queueing()).timer(clock).build())
                .timer(clock)
                .options(LockOptions.builder().waitTimeout(WAIT).build())
                .build();
        for (LockAttempt answer : List.of(new LockAttempt.Queued(pause), new LockAttempt.Contended(pause))) {
            store.answer(answer);
            TestSubscriber<LockLease> waiting = subscribe(handingOver.lock("a").acquire());

            clock.advanceTimeBy(WAIT);

            assertThat(waiting.expectTerminalError())
                    .isInstanceOfSatisfying(
                            LockTimeoutException.class,
                            timedOut -> assertThat(timedOut.backendAnswered()).isTrue());
        }
        subscribe(handingOver.close());
    }

    @ParameterizedTest
    @MethodSource("absurdlyShort")
    void aZeroPauseDoesNotSpinAndDelaysNoOtherWait(Duration pause) {
        LockLease bystander = subscribe(client.lock("bystander").acquire())
                .getReceivedOnNext()
                .get(0);
        store.answer(new LockAttempt.Contended(pause));
        TestSubscriber<LockLease> waiting = subscribe(client.lock("a").acquire());

        clock.advanceTimeBy(WAIT);

        assertThat(waiting.expectTerminalError()).isInstanceOf(LockTimeoutException.class);
        assertThat(store.attempts).as("at most one in a millisecond").hasValueLessThan(5_010);
        clock.advanceTimeBy(Duration.ofMinutes(2));
        assertThat(bystander.isValid()).isTrue();
    }

    @ParameterizedTest
    @MethodSource("absurdlyLong")
    void aPushedGrantForEverIsALease(Duration lease) {
        store.answer(new LockAttempt.Queued(SECOND));
        TestSubscriber<LockLease> waiting = subscribe(client.lock("a").acquire());

        store.signals.emitNext(new WatchSignal.Granted(7, 1, lease), Sinks.EmitFailureHandler.FAIL_FAST);

        assertThat(waiting.getReceivedOnNext()).hasSize(1);
    }

    @ParameterizedTest
    @MethodSource("absurdlyLong")
    void aRenewalByHandThatIsPromisedForEverEnds(Duration lease) {
        LockLease held =
                subscribe(client.lock("a").acquire()).getReceivedOnNext().get(0);
        store.onRenewal = claim -> Mono.just(new Renewal.Held(lease));

        assertThat(subscribe(held.renew()).isTerminatedComplete()).isTrue();
        assertThat(held.isValid()).isTrue();
    }

    @Test
    void anUnreadableAnswerToARenewalByHandFailsIt() {
        LockLease held =
                subscribe(client.lock("a").acquire()).getReceivedOnNext().get(0);
        store.onRenewal = claim -> Mono.just(new Renewal.Held(nothing()));

        assertThat(subscribe(held.renew()).expectTerminalError()).isInstanceOf(LockBackendException.class);
        assertThat(held.isValid()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"for ever", "null"})
    void oneAbsurdAnswerDoesNotLoseTheRestOfItsBatch(String absurd) {
        List<LockLease> leases = IntStream.range(0, 50)
                .mapToObj(i -> subscribe(client.lock("a" + i).acquire())
                        .getReceivedOnNext()
                        .get(0))
                .toList();
        Duration said = absurd.equals("null") ? nothing() : ScriptedStore.forEver();
        store.onBatch = claims -> Flux.fromIterable(claims)
                .map(claim -> new Renewal.Held(claim.key().name().equals("a10") ? said : claim.lease()));

        clock.advanceTimeBy(Duration.ofSeconds(28));

        assertThat(leases).allMatch(LockLease::isValid);
        clock.advanceTimeBy(Duration.ofSeconds(28));
        assertThat(leases).filteredOn(lease -> !lease.lockName().equals("a10")).allMatch(LockLease::isValid);
    }

    @ParameterizedTest
    @ValueSource(strings = {"acquired", "queued", "pushed"})
    void anUnreadableAnswerEndsTheAcquisitionAndWithdrawsTheClaim(String kind) {
        store.answer(
                switch (kind) {
                    case "acquired" -> new LockAttempt.Acquired(7, nothing());
                    case "queued" -> new LockAttempt.Queued(nothing());
                    default -> new LockAttempt.Queued(SECOND);
                });
        TestSubscriber<LockLease> waiting = subscribe(client.lock("a").acquire());
        store.signals.emitNext(new WatchSignal.Granted(7, 1, nothing()), Sinks.EmitFailureHandler.FAIL_FAST);

        assertThat(waiting.expectTerminalError())
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("'a'");
        assertThat(store.released).containsExactly("a");
    }

    @SuppressWarnings("NullAway")
    private static Duration nothing() {
        return null;
    }

    private <T> TestSubscriber<T> subscribe(Mono<T> mono) {
        TestSubscriber<T> subscriber = TestSubscriber.create();
        mono.subscribe(subscriber);
        clock.advanceTimeBy(Duration.ZERO);
        return subscriber;
    }
}
