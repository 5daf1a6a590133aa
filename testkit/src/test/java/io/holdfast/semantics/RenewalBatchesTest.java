package io.holdfast.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Renewal;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.test.scheduler.VirtualTimeScheduler;
import reactor.test.subscriber.TestSubscriber;

/** Leases that are renewed in one request do not affect each other. */
class RenewalBatchesTest {

    private static final int MOST_AT_ONCE = 32;

    private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
    private final ScriptedStore store = new ScriptedStore();
    private final List<LockEvent.RenewalFailed> failed = new CopyOnWriteArrayList<>();
    private final LockClient client = LockClient.builder(store)
            .timer(new ALittleLate(clock))
            .listener(event -> {
                if (event instanceof LockEvent.RenewalFailed failure) {
                    failed.add(failure);
                }
            })
            .build();

    @AfterEach
    void close() {
        subscribe(client.close());
        clock.advanceTimeBy(Duration.ofMinutes(1));
        assertThat(client.toString()).contains("0 acquiring, 0 held, 0 releasing, 0 alarms");
    }

    @Test
    void aShortLeaseDoesNotShortenTheTimeLimitOfLongOnes() {
        List<LockLease> leases = acquired(499, Duration.ofSeconds(30));
        LockLease brief = acquired("brief", Duration.ofMillis(300)); // a quarter of it is its time limit
        store.onBatch = claims -> held(claims).delaySubscription(Duration.ofMillis(150), clock);
        store.onRenewal = claim -> held(List.of(claim)).next().delaySubscription(Duration.ofMillis(50), clock);

        store.changed();
        clock.advanceTimeBy(Duration.ofMillis(500));

        assertThat(failed).isEmpty();
        assertThat(leases).allMatch(LockLease::isValid);
        assertThat(brief.isValid()).isTrue();
    }

    @Test
    void answersBeforeALateErrorCount() {
        List<LockLease> leases = acquired(50, Duration.ofSeconds(30));
        LockLease gone = leases.get(7);
        TestSubscriber<LossReason> loss = subscribe(gone.onLoss());
        store.onBatch = claims -> answered(claims, 40, gone)
                .concatWith(Flux.error(new LockBackendException("", "on purpose", true, null)));

        store.changed();
        clock.advanceTimeBy(Duration.ofMillis(1));

        assertThat(loss.getReceivedOnNext()).containsExactly(LossReason.NOT_HELD);
        assertThat(failed).as("those without an answer").hasSize(10);
    }

    @Test
    void answersBeforeTheTimeLimitCount() {
        List<LockLease> leases = acquired(50, Duration.ofSeconds(30));
        LockLease gone = leases.get(7);
        TestSubscriber<LossReason> loss = subscribe(gone.onLoss());
        store.onBatch = claims -> answered(claims, 40, gone).concatWith(Flux.never());

        store.changed();
        clock.advanceTimeBy(Duration.ofMillis(10));
        assertThat(loss.getReceivedOnNext()).containsExactly(LossReason.NOT_HELD);
        clock.advanceTimeBy(Duration.ofSeconds(2));

        assertThat(failed).as("those without an answer").hasSize(10);
    }

    @Test
    void missingAnswersFailTheirLeasesAndSurplusAnswersAreIgnored() {
        acquired(50, Duration.ofSeconds(30));
        store.onBatch = claims -> held(claims.subList(0, 45));
        store.changed();
        clock.advanceTimeBy(Duration.ofMillis(1));
        assertThat(failed).hasSize(5);
        failed.clear();

        store.onBatch = claims -> held(claims).concatWith(held(claims));
        store.onRenewal = claim -> Mono.just(new Renewal.Held(claim.lease()));
        store.changed();
        clock.advanceTimeBy(Duration.ofSeconds(5));

        assertThat(failed).isEmpty();
    }

    @Test
    void batchesInFlightAreBoundedAndWaitingOnesGoOutWhenOneEnds() {
        List<LockLease> leases = acquired(20_000, Duration.ofSeconds(30));
        AtomicInteger now = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        store.onBatch = claims -> held(claims)
                .delaySubscription(Duration.ofMillis(100), clock)
                .doOnSubscribe(s -> most.accumulateAndGet(now.addAndGet(claims.size()), Math::max))
                .doOnNext(answer -> now.decrementAndGet());

        store.changed();
        clock.advanceTimeBy(Duration.ofMillis(150));
        assertThat(store.batches.stream().mapToInt(List::size).sum()).isEqualTo(20_000);
        clock.advanceTimeBy(Duration.ofMillis(200));

        assertThat(most).hasValueLessThanOrEqualTo(MOST_AT_ONCE * 500);
        assertThat(failed).isEmpty();
        assertThat(leases).allMatch(LockLease::isValid);
    }

    @Test
    void waitingBatchesGoOutEvenIfTheBackEndAnswersAtOnce() {
        acquired(20_000, Duration.ofSeconds(30));
        store.onBatch = RenewalBatchesTest::held;

        store.changed();
        clock.advanceTimeBy(Duration.ofMillis(5));

        assertThat(store.batches.stream().mapToInt(List::size).sum()).isEqualTo(20_000);
    }

    @Test
    void aLeaseReleasedWhileItsBatchWaitsIsNotRenewed() {
        List<LockLease> leases = acquired(20_000, Duration.ofSeconds(30));
        store.onBatch = claims -> held(claims).delaySubscription(Duration.ofMillis(100), clock);
        store.changed();
        clock.advanceTimeBy(Duration.ofMillis(50));
        Set<String> sent = store.batches.stream()
                .flatMap(List::stream)
                .map(claim -> claim.key().name())
                .collect(Collectors.toSet());
        List<LockLease> waiting = leases.stream()
                .filter(lease -> !sent.contains(lease.lockName()))
                .limit(600)
                .toList();

        waiting.forEach(lease -> lease.release().subscribe(TestSubscriber.create()));
        clock.advanceTimeBy(Duration.ofMillis(300));

        assertThat(waiting).hasSize(600);
        assertThat(store.batches.stream().mapToInt(List::size).sum()).isEqualTo(20_000 - 600);
    }

    @Test
    void aBackEndThatAnswersAgainBeforeTheDeadlineLosesNoLeaseOfMany() {
        List<LockLease> leases = acquired(20_000, Duration.ofSeconds(30));
        store.onBatch = claims -> Flux.never();
        store.onRenewal = claim -> Mono.never();
        store.changed();
        clock.advanceTimeBy(Duration.ofSeconds(20));
        store.onBatch = RenewalBatchesTest::held;
        store.onRenewal = claim -> Mono.just(new Renewal.Held(claim.lease()));

        clock.advanceTimeBy(Duration.ofSeconds(30));

        assertThat(leases).allMatch(LockLease::isValid);
    }

    @Test
    void aClaimThatFailsItsWholeRequestCostsNoOtherLease() {
        List<LockLease> leases = acquired(500, Duration.ofSeconds(30));
        LockLease bad = leases.get(123);
        LockBackendException failure = new LockBackendException("", "on purpose", true, null);
        store.onBatch =
                claims -> claims.stream().anyMatch(claim -> isFor(claim, bad)) ? Flux.error(failure) : held(claims);
        store.onRenewal = claim ->
                isFor(claim, bad) ? Mono.error(failure) : held(List.of(claim)).next();

        clock.advanceTimeBy(Duration.ofMinutes(3));

        assertThat(leases).filteredOn(lease -> lease != bad).allMatch(LockLease::isValid);
        assertThat(bad.isValid()).isFalse();
    }

    private static boolean isFor(LockClaim claim, LockLease lease) {
        return claim.key().name().equals(lease.lockName());
    }

    private static Flux<Renewal> held(List<LockClaim> claims) {
        return Flux.fromIterable(claims).map(claim -> new Renewal.Held(claim.lease()));
    }

    /** Returns answers for the first claims, one of which has lost its lock. */
    private static Flux<Renewal> answered(List<LockClaim> claims, int count, LockLease gone) {
        return Flux.fromIterable(claims.subList(0, count))
                .map(claim -> isFor(claim, gone) ? new Renewal.NotHeld() : new Renewal.Held(claim.lease()));
    }

    private List<LockLease> acquired(int count, Duration lease) {
        return IntStream.range(0, count).mapToObj(i -> acquired("a" + i, lease)).toList();
    }

    private LockLease acquired(String name, Duration lease) {
        LockOptions options = LockOptions.builder().leaseDuration(lease).build();
        TestSubscriber<LockLease> holder = TestSubscriber.create();
        client.lock(name).with(options).acquire().subscribe(holder);
        return holder.getReceivedOnNext().get(0);
    }

    private <T> TestSubscriber<T> subscribe(Mono<T> mono) {
        TestSubscriber<T> subscriber = TestSubscriber.create();
        mono.subscribe(subscriber);
        clock.advanceTimeBy(Duration.ofMillis(1));
        return subscriber;
    }

    /** Never runs a task on the calling thread, so that all tasks that are due now run in one turn. */
    private record ALittleLate(Scheduler clock) implements Scheduler {

        @Override
        public long now(TimeUnit unit) {
            return clock.now(unit);
        }

        @Override
        public Disposable schedule(Runnable task) {
            return schedule(task, 0, TimeUnit.NANOSECONDS);
        }

        @Override
        public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
            return clock.schedule(task, Math.max(1_000_000, unit.toNanos(delay)), TimeUnit.NANOSECONDS);
        }

        @Override
        public Worker createWorker() {
            return clock.createWorker();
        }
    }
}
