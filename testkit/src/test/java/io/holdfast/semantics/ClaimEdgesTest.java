package io.holdfast.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LossReason;
import io.holdfast.ReactiveLock;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.scheduler.VirtualTimeScheduler;
import reactor.test.subscriber.TestSubscriber;

/** A claim ends with one signal, and leaves nothing, also where its events meet in one call. */
class ClaimEdgesTest {

    private static final String NOTHING_LEFT = "0 acquiring, 0 held, 0 releasing, 0 alarms";

    private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
    private final ScriptedStore store = new ScriptedStore();

    private LockClient.Builder client(LockBackend backend) {
        return LockClient.builder(backend).timer(clock).closeBackend(false);
    }

    private static <T> TestSubscriber<T> subscribe(Mono<T> source) {
        TestSubscriber<T> subscriber = TestSubscriber.create();
        source.subscribe(subscriber);
        return subscriber;
    }

    private void pass(Duration time) {
        clock.advanceTimeBy(time);
    }

    private LockBackend watched(Function<LockClaim, Flux<WatchSignal>> watch) {
        return new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return store;
            }

            @Override
            public Flux<WatchSignal> watch(LockClaim claim) {
                return watch.apply(claim);
            }
        };
    }

    private static Error fatal() {
        return new NoClassDefFoundError("a class of the driver");
    }

    @Test
    void cancellationWithinTheFirstEventGivesThePlaceBack() {
        BaseSubscriber<LockLease> leaving = new BaseSubscriber<>() {};
        LockClient client = client(store)
                .maxWaiters(1)
                .listener(event -> {
                    if (event instanceof LockEvent.AcquireStarted) {
                        leaving.cancel();
                    }
                })
                .build();

        client.lock("a").acquire().subscribe(leaving);

        assertThat(subscribe(client.lock("b").acquire()).getReceivedOnNext()).hasSize(1);
        assertThat(client.toString()).contains("0 acquiring, 1 held");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void watchThatCannotBeLinkedFailsTheAcquisitionAndReleasesTheLock(boolean waits) {
        LockClient client = client(watched(claim -> {
                    throw fatal();
                }))
                .build();
        ReactiveLock lock = client.lock("a");

        Throwable error = subscribe(waits ? lock.acquire() : lock.tryAcquire()).expectTerminalError();
        pass(Duration.ZERO);

        assertThat(error).isInstanceOf(LockBackendException.class).hasMessageContaining("'a'");
        assertThat(store.released).hasSize(waits ? 0 : 1);
        assertThat(client.toString()).contains(NOTHING_LEFT);
    }

    @Test
    void answersWithinTheSendingNeedNoStack() {
        AtomicInteger left = new AtomicInteger(20_000);
        Sinks.Many<WatchSignal> signals = Sinks.many().unicast().onBackpressureBuffer();
        LockClient client = client(watched(claim -> signals.asFlux())).build();
        store.onAttempt = claim -> {
            signals.tryEmitNext(new WatchSignal.Changed());
            return Mono.just(
                    left.decrementAndGet() > 0
                            ? new LockAttempt.Contended(Duration.ofSeconds(1))
                            : new LockAttempt.Acquired(7, claim.lease()));
        };

        assertThat(subscribe(client.lock("a").acquire()).getReceivedOnNext()).hasSize(1);
    }

    @Test
    void grantsThatAreLostBeforeTheyAreHandedOutNeedNoStack() {
        AtomicInteger left = new AtomicInteger(5_000);
        LockClient client = client(watched(claim -> left.decrementAndGet() > 0
                        ? Flux.<WatchSignal>just(new WatchSignal.Lost(LossReason.NOT_HELD))
                                .concatWith(Flux.never())
                        : Flux.never()))
                .build();

        TestSubscriber<LockLease> acquired = subscribe(client.lock("a").tryAcquire());
        pass(Duration.ofSeconds(1));

        assertThat(acquired.getReceivedOnNext()).hasSize(1);
        assertThat(client.toString()).contains("0 acquiring, 1 held");
    }
}
