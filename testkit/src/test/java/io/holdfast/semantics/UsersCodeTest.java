package io.holdfast.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.Renewal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** Slow users' code does not delay renewals that are due at the same time. */
class UsersCodeTest {

    /** The other lease is renewed at a third of this. */
    private static final Duration LEASE = Duration.ofSeconds(30);

    private static final Duration BRIEF = Duration.ofSeconds(5);

    /** All tasks that are due by then run in one turn of the timer. */
    private static final Duration LATE = Duration.ofSeconds(11);

    private final LateTimer timer = new LateTimer();
    private final ScriptedStore store = new ScriptedStore();
    private final List<Integer> renewalsBefore = new ArrayList<>();
    private final LockClient client = client(event -> {});

    private LockClient client(io.holdfast.LockListener listener) {
        return LockClient.builder(store).timer(timer).listener(listener).build();
    }

    @Test
    void aHandlerOfALossRunsAfterTheRenewalsOfItsTurn() {
        LockLease brief =
                acquired("brief", options -> options.leaseDuration(BRIEF).autoRenew(false));
        acquired("bystander", options -> options.leaseDuration(LEASE));
        brief.onLoss().subscribe(loss -> takesLong());

        timer.advance(LATE);

        assertThat(renewalsBefore).containsExactly(1);
    }

    @Test
    void aListenerToALossRunsAfterTheRenewalsOfItsTurn() {
        LockClient heard = client(event -> {
            if (event instanceof LockEvent.Lost) {
                takesLong();
            }
        });
        LockLease brief =
                acquired(heard, "brief", options -> options.leaseDuration(BRIEF).autoRenew(false));
        LockLease bystander = acquired(heard, "bystander", options -> options.leaseDuration(LEASE));

        timer.advance(LATE);

        assertThat(renewalsBefore).containsExactly(1);
        assertThat(brief.isValid()).isFalse();
        assertThat(bystander.isValid()).isTrue();
    }

    @Test
    void theFallbackOfATimeOutRunsAfterTheRenewalsOfItsTurn() {
        acquired("bystander", options -> options.leaseDuration(LEASE));
        store.onAttempt = claim -> Mono.just(new LockAttempt.Queued(Duration.ofSeconds(20)));
        subscribe(client.lock("busy")
                .with(LockOptions.builder().waitTimeout(BRIEF).build())
                .acquire()
                .onErrorResume(timeout -> {
                    takesLong();
                    return Mono.empty();
                }));

        timer.advance(LATE);

        assertThat(renewalsBefore).containsExactly(1);
    }

    @Test
    void theFallbackOfARequestThatIsNotAnsweredRunsAfterTheRenewalsOfItsTurn() {
        acquired("bystander", options -> options.leaseDuration(LEASE));
        store.onAttempt = claim -> Mono.never();
        subscribe(client.lock("silent").tryAcquire().onErrorResume(unknown -> {
            takesLong();
            return Mono.empty();
        }));

        timer.advance(LATE);

        assertThat(renewalsBefore).containsExactly(1);
    }

    @Test
    void theWorkUnderALockThatIsGrantedByATimerRunsAfterTheRenewalsOfItsTurn() {
        acquired("bystander", options -> options.leaseDuration(LEASE));
        store.onAttempt = claim -> Mono.just(
                claim.attempt() == 1
                        ? new LockAttempt.Contended(Duration.ofMillis(50))
                        : new LockAttempt.Acquired(8, claim.lease()));
        subscribe(client.lock("polled").withLock(Mono.fromRunnable(this::takesLong)));

        timer.advance(LATE);

        assertThat(renewalsBefore).containsExactly(1);
    }

    @Test
    void aLossDetectedByARenewalIsSignalledAfterTheOtherRenewals() {
        LockLease gone = acquired("gone", options -> options.leaseDuration(LEASE));
        acquired(
                "bystander",
                options -> options.leaseDuration(LEASE.multipliedBy(8).dividedBy(10)));
        gone.onLoss().subscribe(loss -> takesLong());
        store.onRenewal = claim ->
                Mono.just(claim.key().name().equals("gone") ? new Renewal.NotHeld() : new Renewal.Held(claim.lease()));
        store.onBatch = claims -> Flux.fromIterable(claims).concatMap(store.onRenewal);

        timer.advance(LATE);

        assertThat(renewalsBefore).hasSize(1);
        assertThat(store.batches.subList(0, renewalsBefore.get(0)).stream().flatMap(List::stream))
                .as("sent before the handler ran")
                .hasSize(2);
    }

    /** Users' code that blocks: records how many renewals were sent when it begins. */
    private void takesLong() {
        renewalsBefore.add(store.batches.size());
    }

    private LockLease acquired(String name, UnaryOperator<LockOptions.Builder> options) {
        return acquired(client, name, options);
    }

    private LockLease acquired(LockClient from, String name, UnaryOperator<LockOptions.Builder> options) {
        return subscribe(from.lock(name)
                        .with(options.apply(LockOptions.builder()).build())
                        .acquire())
                .getReceivedOnNext()
                .get(0);
    }

    private static <T> TestSubscriber<T> subscribe(Mono<T> mono) {
        TestSubscriber<T> subscriber = TestSubscriber.create();
        mono.subscribe(subscriber);
        return subscriber;
    }
}
