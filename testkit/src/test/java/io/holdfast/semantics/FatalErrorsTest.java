package io.holdfast.semantics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockListener;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;
import reactor.test.subscriber.TestSubscriber;

/**
 * An error that Reactor throws at once instead of passing it on, such as one of a class that cannot be linked, costs no
 * other lock anything: neither when a driver throws it, nor when users' code does.
 */
class FatalErrorsTest {

    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration BRIEF = Duration.ofSeconds(5);

    private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
    private final ScriptedStore store = new ScriptedStore();
    private final LockClient client = client(store, event -> {});

    private LockClient client(LockBackend backend, LockListener listener) {
        return LockClient.builder(backend)
                .timer(clock)
                .listener(listener)
                .closeBackend(false)
                .build();
    }

    @Test
    void aDriverThatCannotRenewOnceKeepsNoLeaseFromItsNextRenewal() {
        LockLease one = acquired(client, "one", LEASE);
        LockLease another = acquired(client, "another", LEASE);
        store.onRenewal = claim -> {
            throw fatal();
        };
        store.onBatch = claims -> {
            throw fatal();
        };
        pass(LEASE.dividedBy(2));

        store.onRenewal = claim -> Mono.just(new Renewal.Held(claim.lease()));
        store.onBatch = claims -> Flux.fromIterable(claims).concatMap(store.onRenewal);
        pass(LEASE.multipliedBy(3));

        assertThat(List.of(one, another)).allMatch(LockLease::isValid);
    }

    @Test
    void aDriverThatCannotReleaseEndsTheWorkAndTheClientCloses() {
        InMemoryLockBackend memory = InMemoryLockBackend.create(clock);
        LockClient broken = client(
                new ForwardingLockBackend() {
                    @Override
                    public LockBackend delegate() {
                        return memory;
                    }

                    @Override
                    public Mono<Ownership> release(LockClaim claim) {
                        throw fatal();
                    }
                },
                event -> {});
        TestSubscriber<String> result = subscribe(broken.lock("a").withLock(Mono.just("sold")));
        pass(LEASE.multipliedBy(2));

        assertThat(result.getReceivedOnNext()).containsExactly("sold");
        assertThat(subscribe(broken.close()).isTerminatedComplete()).isTrue();
        assertThat(broken.toString()).contains("0 acquiring, 0 held, 0 releasing, 0 alarms");
    }

    @Test
    void aHandlerOfALossThatCannotBeLinkedHidesNoOtherLoss() {
        LateTimer timer = new LateTimer();
        LockClient late = LockClient.builder(store).timer(timer).build();
        List<TestSubscriber<Object>> works = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            works.add(subscribe(late.lock("work" + i).with(brief()).withLock(Mono.never())));
            LockLease handled = acquired(late, "handled" + i, BRIEF);
            handled.onLoss().subscribe(new Broken<>(fatal()));
        }

        timer.advance(BRIEF.plusSeconds(1));

        assertThat(works)
                .allSatisfy(work -> assertThat(work.expectTerminalError()).isInstanceOf(LockLostException.class));
    }

    @Test
    void workWhoseCancellationThrowsKeepsNoLock() {
        TestSubscriber<Object> result = subscribe(client.lock("a").withLock(unstoppable()));
        assertThatThrownBy(result::cancel).isInstanceOf(LinkageError.class);
        pass(Duration.ZERO);

        assertThat(store.released).containsExactly("a");
    }

    @Test
    void workWhoseCancellationThrowsIsToldOfItsLoss() {
        LateTimer timer = new LateTimer();
        LockClient late = LockClient.builder(store).timer(timer).build();
        TestSubscriber<Object> result = subscribe(late.lock("a").with(brief()).withLock(unstoppable()));
        timer.advance(BRIEF.plusSeconds(1));

        assertThat(result.expectTerminalError()).isInstanceOf(LockLostException.class);
    }

    /** The publisher throws after it has begun. */
    @Test
    void workThatThrowsAndWhoseCancellationThrowsEndsForItsSubscriber() {
        LinkageError begun = fatal();
        TestSubscriber<Object> result = subscribe(client.lock("a").withLock(new Mono<Object>() {
            @Override
            public void subscribe(CoreSubscriber<? super Object> actual) {
                unstoppable().subscribe(actual);
                throw begun;
            }
        }));
        pass(Duration.ZERO);

        assertThat(result.expectTerminalError()).isSameAs(begun);
        assertThat(store.released).containsExactly("a");
    }

    private static Mono<Object> unstoppable() {
        return Mono.never().doOnCancel(() -> {
            throw fatal();
        });
    }

    @Test
    void aListenerThatCannotBeLinkedKeepsNoLeaseFromItsHolder() {
        LockClient heard = client(store, event -> {
            throw fatal();
        });
        TestSubscriber<String> result = subscribe(heard.lock("a").withLock(Mono.just("sold")));

        assertThat(result.getReceivedOnNext()).containsExactly("sold");
        assertThat(store.released).containsExactly("a");
        assertThat(subscribe(heard.close()).isTerminatedComplete()).isTrue();
    }

    @Test
    void aHolderThatThrowsAtItsLeaseDoesNotKeepTheLock() {
        client.lock("a").acquire().subscribe(new Broken<>(fatal()));
        client.all(client.lock("b"), client.lock("c")).acquire().subscribe(new Broken<>(fatal()));
        pass(Duration.ZERO);

        assertThat(store.released).containsExactlyInAnyOrder("a", "b", "c");
        assertThat(client.toString()).contains("0 acquiring, 0 held, 0 releasing, 0 alarms");
    }

    @ParameterizedTest
    @MethodSource("thrown")
    void aSubscriberThatThrowsAtTheEndOfAReleaseHoldsUpNoWork(Throwable thrown) {
        store.onRelease = released -> released.delayElement(SECOND, clock);
        TestSubscriber<String> result = subscribe(client.lock("a").withLock(lease -> {
            lease.release().subscribe(new Broken<>(thrown));
            return Mono.just("sold");
        }));
        assertThat(result.isTerminated()).isFalse();

        pass(SECOND);

        assertThat(result.getReceivedOnNext()).containsExactly("sold");
    }

    static Stream<Throwable> thrown() {
        return Stream.of(new IllegalStateException("on purpose"), new LinkageError("on purpose"));
    }

    private <T> TestSubscriber<T> subscribe(Mono<T> mono) {
        TestSubscriber<T> subscriber = TestSubscriber.create();
        mono.subscribe(subscriber);
        pass(Duration.ZERO);
        return subscriber;
    }

    private LockLease acquired(LockClient from, String name, Duration lease) {
        LockOptions options = lease.equals(BRIEF)
                ? brief()
                : LockOptions.builder().leaseDuration(lease).build();
        return subscribe(from.lock(name).with(options).acquire())
                .getReceivedOnNext()
                .get(0);
    }

    private static LockOptions brief() {
        return LockOptions.builder().leaseDuration(BRIEF).autoRenew(false).build();
    }

    private void pass(Duration time) {
        try {
            clock.advanceTimeBy(time);
        } catch (LinkageError reachedTheThread) {
            assertThat(reachedTheThread).hasMessage("on purpose");
        }
    }

    private static LinkageError fatal() {
        return new LinkageError("on purpose");
    }

    /** Throws at each signal. */
    private record Broken<T>(Throwable thrown) implements CoreSubscriber<T> {

        @Override
        public void onSubscribe(Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(T value) {
            fail();
        }

        @Override
        public void onError(Throwable error) {
            fail();
        }

        @Override
        public void onComplete() {
            fail();
        }

        private void fail() {
            if (thrown instanceof Error error) {
                throw error;
            }
            throw (RuntimeException) thrown;
        }
    }
}
