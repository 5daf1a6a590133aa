package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockLease;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.test.subscriber.TestSubscriber;

/** How waiters wait, by signals and by attempts. */
class QuorumWatchTest {

    @RegisterExtension
    final Five five = new Five();

    private final Five.Client client = five.client();
    private final Five.Client rival = five.client();

    private List<WatchSignal> watch(LockClaim claim, List<Disposable> to) {
        List<WatchSignal> signals = new ArrayList<>();
        to.add(client.backend.watch(claim).subscribe(signals::add));
        five.pass(Duration.ZERO);
        return signals;
    }

    private RedlockBackend over(List<? extends LockBackend> masters) {
        return over(masters, five.time);
    }

    private static RedlockBackend over(List<? extends LockBackend> masters, Scheduler timer) {
        return RedlockBackend.builder(masters).timer(timer).closeMasters(false).build();
    }

    /** Makes a master whose watch the test supplies. */
    private static LockBackend watchedBy(LockBackend master, Supplier<Flux<WatchSignal>> watch) {
        return new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return master;
            }

            @Override
            public Flux<WatchSignal> watch(LockClaim claim) {
                return Flux.defer(watch);
            }
        };
    }

    /** Returns the five masters, with this one in the place of the first. */
    private List<LockBackend> withFirst(LockBackend first) {
        List<LockBackend> members = new ArrayList<>(five.masters);
        members.set(0, first);
        return members;
    }

    /** Makes masters of a kind that pushes grants without an attempt. */
    private List<LockBackend> pushing(List<Sinks.Many<WatchSignal>> pushes) {
        return IntStream.range(0, pushes.size())
                .mapToObj(i -> watchedBy(five.masters.get(i), pushes.get(i)::asFlux))
                .toList();
    }

    private static List<Sinks.Many<WatchSignal>> threePushes() {
        return Stream.generate(() -> Sinks.many().multicast().<WatchSignal>onBackpressureBuffer())
                .limit(3)
                .toList();
    }

    /** Fails to watch this many times, then succeeds. */
    private static class WatchedInTheEnd implements ForwardingLockBackend {

        private final LockBackend master;
        private int failures;
        private int watched;

        WatchedInTheEnd(LockBackend master, int failures) {
            this.master = master;
            this.failures = failures;
        }

        @Override
        public LockBackend delegate() {
            return master;
        }

        @Override
        public Flux<WatchSignal> watch(LockClaim claim) {
            return Flux.defer(() -> {
                watched++;
                return failures-- > 0
                        ? Flux.error(new IllegalStateException("no connection left"))
                        : master.watch(claim);
            });
        }
    }

    private List<WatchedInTheEnd> inTheEnd(int... failures) {
        return IntStream.range(0, 5)
                .mapToObj(i -> new WatchedInTheEnd(five.masters.get(i), failures[i]))
                .toList();
    }

    @Test
    void aMasterWhoseWatchFailedIsWatchedAgainAndSignalsTheRelease() {
        List<WatchedInTheEnd> members = inTheEnd(3, 3, 0, 0, 0);
        RedlockBackend backend = over(members);
        rival.down(3, 4);
        LockClaim held = Five.claim();
        rival.mustAcquire(held);
        LockClaim waiting = Five.claim(Five.NAME, Waiting.QUEUE);
        List<WatchSignal> signals = new ArrayList<>();
        Disposable watch = backend.watch(waiting).subscribe(signals::add);
        five.answer(backend.tryAcquire(waiting));
        five.pass(Duration.ofSeconds(3));
        assertThat(members.get(0).watched).as("three failures").isEqualTo(4);
        signals.clear();

        five.answer(rival.backend.release(held));
        five.passMillis(100);

        assertThat(signals).contains(new WatchSignal.Changed());
        watch.dispose();
        five.answer(backend.release(waiting));
        int before = members.get(0).watched;
        five.pass(Five.LEASE);
        assertThat(members.get(0).watched).isEqualTo(before);
        five.subscribe(backend.close());
    }

    @Test
    void aMasterThatCannotBeWatchedIsTriedMoreAndMoreRarelyUntilTheWaiterLeaves() {
        List<WatchedInTheEnd> members = inTheEnd(Integer.MAX_VALUE, 0, 0, 0, 0);
        RedlockBackend backend = over(members);
        Disposable watch = backend.watch(Five.claim()).subscribe();
        five.pass(Duration.ofMinutes(1));
        assertThat(members.get(0).watched).isBetween(8, 26);
        watch.dispose();
        int before = members.get(0).watched;
        five.pass(Duration.ofMinutes(1));
        assertThat(members.get(0).watched).isEqualTo(before);
        five.subscribe(backend.close());
    }

    /** A server may let a client subscribe and then cut it off, for example. */
    @Test
    void aMasterWhoseArmedWatchFailsAtOnceIsWatchedMoreAndMoreRarely() {
        AtomicInteger watched = new AtomicInteger();
        LockBackend fickle = watchedBy(five.masters.get(0), () -> {
            watched.incrementAndGet();
            return Flux.concat(Flux.just(new WatchSignal.Armed()), Flux.error(new IllegalStateException("cut")));
        });
        RedlockBackend backend = over(withFirst(fickle));
        Disposable watch = backend.watch(Five.claim()).subscribe();
        five.pass(Duration.ofMinutes(1));
        assertThat(watched).hasValueBetween(8, 26);
        watch.dispose();
        five.subscribe(backend.close());
    }

    @Test
    void aMasterThatWasWatchedForLongIsWatchedAgainSoonAfterItsNextFailure() {
        AtomicInteger watched = new AtomicInteger();
        List<Sinks.Many<WatchSignal>> lines = new ArrayList<>();
        LockBackend master = watchedBy(five.masters.get(0), () -> {
            if (watched.incrementAndGet() <= 8) {
                return Flux.error(new IllegalStateException("no connection left"));
            }
            Sinks.Many<WatchSignal> line = Sinks.many().unicast().onBackpressureBuffer();
            lines.add(line);
            return line.asFlux();
        });
        RedlockBackend backend = over(withFirst(master));
        Disposable watch = backend.watch(Five.claim()).subscribe();
        five.pass(Duration.ofMinutes(3));
        assertThat(watched).hasValue(9);
        lines.get(0).tryEmitError(new IllegalStateException("cut")).orThrow();
        five.pass(Duration.ofMillis(151));
        assertThat(watched).hasValue(10);
        watch.dispose();
        five.subscribe(backend.close());
    }

    /** Each attempt that a master fails gives the claim another id there, which is watched at once. */
    @Test
    void attemptsDoNotLengthenThePausesBeforeAnUnreachableMasterIsWatchedAgain() {
        List<WatchedInTheEnd> members = IntStream.range(0, 5)
                .<WatchedInTheEnd>mapToObj(
                        i -> new WatchedInTheEnd(five.masters.get(i), i == 0 ? Integer.MAX_VALUE : 0) {
                            @Override
                            public Mono<LockAttempt> tryAcquire(LockClaim claim) {
                                return i == 0 ? Mono.error(new IllegalStateException("away")) : super.tryAcquire(claim);
                            }
                        })
                .toList();
        RedlockBackend backend = over(members);
        LockClaim held = Five.claim();
        rival.mustAcquire(held);
        LockClaim waiting = Five.claim(Five.NAME, Waiting.QUEUE);
        Disposable watch = backend.watch(waiting).subscribe();
        for (int i = 0; i < 50; i++) {
            five.answer(backend.tryAcquire(waiting));
            five.pass(Duration.ofMillis(200));
        }
        int before = members.get(0).watched;
        five.pass(Duration.ofMinutes(1));
        assertThat(members.get(0).watched - before).isLessThanOrEqualTo(20);
        watch.dispose();
        five.answer(rival.backend.release(held));
        five.answer(backend.release(waiting));
        five.subscribe(backend.close());
    }

    @Test
    void oneReleaseAtFiveMastersIsOneSignal() {
        LockClaim held = Five.claim();
        rival.mustAcquire(held);
        LockClaim waiting = Five.claim(Five.NAME, Waiting.QUEUE);
        List<Disposable> open = new ArrayList<>();
        List<WatchSignal> signals = watch(waiting, open);
        assertThat(signals).containsExactly(new WatchSignal.Armed());
        client.attempt(waiting);
        five.answer(rival.backend.release(held));
        five.passMillis(10);
        assertThat(signals).containsExactly(new WatchSignal.Armed(), new WatchSignal.Changed());
        five.answer(client.backend.release(waiting));
        open.forEach(Disposable::dispose);
    }

    @Test
    void votesThatOthersGiveUpWakeNoWaiterWhileAMajorityIsHeld() {
        rival.down(4, 5);
        LockClaim held = Five.claim();
        rival.mustAcquire(held);
        LockClaim waiting = Five.claim(Five.NAME, Waiting.QUEUE);
        List<Disposable> open = new ArrayList<>();
        List<WatchSignal> signals = watch(waiting, open);
        client.attempt(waiting);
        Five.Client third = five.client();
        for (int i = 0; i < 5; i++) {
            third.attempt(Five.claim());
            five.passMillis(10);
        }
        assertThat(signals).doesNotContain(new WatchSignal.Changed());
        five.answer(rival.backend.release(held));
        five.passMillis(10);
        assertThat(signals).contains(new WatchSignal.Changed());
        five.answer(client.backend.release(waiting));
        open.forEach(Disposable::dispose);
    }

    @Test
    void newIdAtAMasterIsWatchedAfterAVoteWasGivenUp() {
        rival.down(4, 5);
        LockClaim held = Five.claim();
        rival.mustAcquire(held);
        LockClaim waiting = Five.claim(Five.NAME, Waiting.QUEUE);
        List<Disposable> open = new ArrayList<>();
        List<WatchSignal> signals = watch(waiting, open);
        client.attempt(waiting); // wins 4 and 5, and gives them up
        client.attempt(waiting);
        five.passMillis(10);
        rival.up();
        assertThat(five.contents().stream()
                        .filter(it -> it.contains("watch of claim"))
                        .count())
                .isEqualTo(5);
        assertThat(five.contents()).anyMatch(it -> it.contains("watch of claim " + waiting.id() + "~2"));
        five.answer(rival.backend.release(held));
        five.passMillis(10);
        assertThat(signals).contains(new WatchSignal.Changed());
        five.answer(client.backend.release(waiting));
        open.forEach(Disposable::dispose);
    }

    @Test
    void waiterHasTheLockSoonAfterTheRelease() {
        LockLease first = five.answer(rival.locks.lock(Five.NAME).acquire());
        TestSubscriber<LockLease> next =
                five.subscribe(client.locks.lock(Five.NAME).acquire());
        five.pass(Duration.ofSeconds(3));
        assertThat(next.getReceivedOnNext()).isEmpty();
        five.subscribe(first.release());
        five.passMillis(10);
        assertThat(next.getReceivedOnNext()).hasSize(1);
        assertThat(next.getReceivedOnNext().get(0).fencingToken()).isGreaterThan(first.fencingToken());
    }

    @Test
    void withLockAcquiresAndReleasesWithTwoUnreachableMasters() {
        client.down(1);
        client.hung(3);
        String result =
                five.answer(client.locks.lock(Five.NAME).withLock(lease -> Mono.just("token " + lease.fencingToken())));
        assertThat(result).startsWith("token ");
        five.pass(Duration.ofSeconds(5));
        assertThat(five.contents()).isEmpty();
    }

    @Test
    void cancellingAtAnyMomentLeavesNothingAtAnyMaster() {
        for (int step = 0; step < 120; step++) {
            Random random = new Random(step);
            client.wires.forEach(it -> it.delayNanos = () -> random.nextInt(4_000_000));
            boolean contended = step % 3 == 0;
            LockClaim held = Five.claim();
            if (contended) {
                rival.mustAcquire(held);
            }
            Disposable work =
                    client.locks.lock(Five.NAME).withLock(Mono.never()).subscribe();
            five.time.advanceTimeBy(Duration.ofNanos(step * 250_000L));
            work.dispose();
            if (contended) {
                five.answer(rival.backend.release(held));
            }
            five.pass(Duration.ofSeconds(2));
            assertThat(five.contents()).as("cancelled after %d us", step * 250).isEmpty();
            assertThat(client.backend.claimCount()).isZero();
        }
    }

    @Test
    void grantWithoutAnAttemptIsReleasedAndLossesAreCounted() {
        List<Sinks.Many<WatchSignal>> pushes = threePushes();
        RedlockBackend backend = over(pushing(pushes));
        LockClaim claim = Five.claim();
        five.answer(backend.tryAcquire(claim));
        List<WatchSignal> signals = new ArrayList<>();
        Disposable watch = backend.watch(claim).subscribe(signals::add);
        pushes.get(0)
                .tryEmitNext(new WatchSignal.Granted(1, 1, Duration.ofSeconds(1)))
                .orThrow();
        assertThat(five.holding()).containsExactly(2, 3);
        assertThat(signals).isEmpty();
        WatchSignal lost = new WatchSignal.Lost(io.holdfast.LossReason.DISCONNECTED);
        pushes.get(1).tryEmitNext(lost).orThrow();
        assertThat(signals).containsExactly(new WatchSignal.Changed());
        pushes.get(2).tryEmitNext(lost).orThrow();
        assertThat(signals).containsExactly(new WatchSignal.Changed(), lost);
        watch.dispose();
        five.answer(backend.release(claim));
    }

    @Test
    void watchEndsWhenNoMajorityCanBeWatched() {
        List<Sinks.Many<WatchSignal>> pushes = threePushes();
        RedlockBackend backend = over(pushing(pushes));
        TestSubscriber<WatchSignal> watch = TestSubscriber.create();
        backend.watch(Five.claim()).subscribe(watch);
        pushes.get(0).tryEmitError(new IllegalStateException("gone")).orThrow();
        assertThat(watch.isTerminated()).isFalse();
        pushes.get(1).tryEmitError(new IllegalStateException("gone too")).orThrow();
        assertThat(watch.expectTerminalError())
                .hasMessageContaining("no majority of the masters can be watched any more")
                .hasMessageContaining("gone too");
    }

    /** A timer whose next task ends before the timer has returned its handle. */
    private static final class HastyTimer implements Scheduler {

        private final Scheduler delegate;
        private boolean isInHaste;

        HastyTimer(Scheduler delegate) {
            this.delegate = delegate;
        }

        @Override
        public Disposable schedule(Runnable task) {
            return delegate.schedule(task);
        }

        @Override
        public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
            if (!isInHaste) {
                return delegate.schedule(task, delay, unit);
            }
            isInHaste = false;
            task.run();
            return Disposables.disposed();
        }

        @Override
        public Worker createWorker() {
            return delegate.createWorker();
        }

        @Override
        public long now(TimeUnit unit) {
            return delegate.now(unit);
        }
    }

    /**
     * With real threads that happens now and then; the waiter then only sent attempts by its own clock, about once a
     * second.
     */
    @Test
    void pauseThatEndsAtOnceDoesNotStopTheSignals() {
        Sinks.Many<WatchSignal> push = Sinks.many().multicast().onBackpressureBuffer();
        List<LockBackend> masters = IntStream.range(0, 3)
                .<LockBackend>mapToObj(i -> new ForwardingLockBackend() {
                    @Override
                    public LockBackend delegate() {
                        return five.masters.get(i);
                    }

                    @Override
                    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
                        return Mono.never();
                    }

                    @Override
                    public Flux<WatchSignal> watch(LockClaim claim) {
                        return i == 0 ? push.asFlux() : Flux.never();
                    }
                })
                .toList();
        HastyTimer timer = new HastyTimer(five.time);
        RedlockBackend backend = over(masters, timer);
        LockClaim claim = Five.claim(Five.NAME, Waiting.QUEUE);
        List<WatchSignal> signals = new ArrayList<>();
        Disposable watch = backend.watch(claim).subscribe(signals::add);
        TestSubscriber<LockAttempt> underWay = five.subscribe(backend.tryAcquire(claim));
        timer.isInHaste = true;
        push.tryEmitNext(new WatchSignal.Changed()).orThrow();
        assertThat(signals).as("while its attempt is under way").isEmpty();
        five.pass(Duration.ofMillis(1_410)); // they have never answered, so they get more time
        assertThat(underWay.isTerminatedError()).isTrue();
        assertThat(signals).containsExactly(new WatchSignal.Changed());
        watch.dispose();
    }
}
