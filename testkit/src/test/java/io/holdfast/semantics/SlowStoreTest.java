package io.holdfast.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Backoff;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.spi.LockAttempt;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;
import reactor.test.subscriber.TestSubscriber;

/** Waiting does not cost more when the back end gets slower: a waiter rests as long as its last answer took. */
class SlowStoreTest {

    private static final Duration WAIT = Duration.ofSeconds(60);
    private static final Duration ANSWER = Duration.ofMillis(500);

    private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
    private final ScriptedStore store = new ScriptedStore();
    private final LockClient client = LockClient.builder(store)
            .timer(clock)
            .options(LockOptions.builder()
                    .waitTimeout(WAIT)
                    .backoff(Backoff.fixed(Duration.ofMillis(10)))
                    .build())
            .build();

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aWaiterKeepsTheBackEndBusyForAtMostHalfTheTime(boolean signalled) {
        store.onAttempt = claim -> slow(new LockAttempt.Contended(Duration.ofSeconds(10)));
        TestSubscriber<LockLease> waiting = subscribe(client.lock("a").acquire());
        if (signalled) {
            signalAllTheTime();
        }

        clock.advanceTimeBy(WAIT);

        assertThat(waiting.expectTerminalError()).isInstanceOf(LockTimeoutException.class);
        assertThat(store.attempts).hasValueBetween(50, 61);
    }

    @Test
    void aWaiterWithoutAnswersKeepsTheBackEndBusyForAtMostHalfTheTime() {
        store.onAttempt = claim -> Mono.never();
        TestSubscriber<LockLease> waiting = subscribe(client.lock("a").acquire());
        signalAllTheTime();

        clock.advanceTimeBy(WAIT);

        assertThat(waiting.expectTerminalError()).isInstanceOf(LockTimeoutException.class);
        assertThat(store.attempts).as("of 2 s each").hasValueBetween(14, 17);
    }

    @Test
    void oneSlowAnswerDoesNotDelayALaterSignal() {
        store.onAttempt = claim -> slow(new LockAttempt.Queued(Duration.ofSeconds(30)));
        subscribe(client.lock("a").acquire());
        clock.advanceTimeBy(ANSWER);
        store.signals.tryEmitNext(new io.holdfast.spi.WatchSignal.Armed());
        clock.advanceTimeBy(ANSWER.multipliedBy(4));
        assertThat(store.attempts).hasValue(2);

        store.changed();

        assertThat(store.attempts).hasValue(3);
    }

    @Test
    void aPlaceInTheQueueIsKeptHoweverSlowTheBackEndIs() {
        store.onAttempt = claim -> slow(new LockAttempt.Queued(Duration.ofMillis(50)));
        subscribe(client.lock("a").acquire());

        clock.advanceTimeBy(Duration.ofSeconds(11));

        assertThat(store.attempts).as("each 550 ms").hasValueBetween(20, 21);
    }

    private void signalAllTheTime() {
        Flux.interval(Duration.ofMillis(7), clock).take(WAIT, clock).subscribe(i -> store.changed());
    }

    private Mono<LockAttempt> slow(LockAttempt answer) {
        return Mono.delay(ANSWER, clock).thenReturn(answer);
    }

    private <T> TestSubscriber<T> subscribe(Mono<T> mono) {
        TestSubscriber<T> subscriber = TestSubscriber.create();
        mono.subscribe(subscriber);
        clock.advanceTimeBy(Duration.ZERO);
        return subscriber;
    }
}
