package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockEvent;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.holdfast.testkit.server.RedisReplicas;
import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

/** A grant counts when a real replica has it. */
class RedisConfirmedGrantsIT {

    private static final Duration WITHIN = Duration.ofMillis(300);

    /** Time for confirmations, however busy the machine is. */
    private static final Duration IN_TIME = Duration.ofSeconds(8);

    private RedisReplicas servers;
    private RedisServer replica;
    private Store store;
    private RedisLockBackend backend;

    @BeforeEach
    void start() {
        servers = RedisReplicas.start(1);
        replica = servers.replicas().get(0);
        store = Store.observing(servers.master());
        backend = backend(1);
    }

    @AfterEach
    void stop() {
        Store.end(backend);
        store.stopObserving();
        servers.close();
    }

    private RedisLockBackend backend(int replicas) {
        return backend(replicas, WITHIN);
    }

    private RedisLockBackend backend(int replicas, Duration within) {
        return RedisLockBackend.builder(store.uri())
                .confirmGrants(replicas, within)
                .build();
    }

    private void beginAgain(Duration within) {
        Store.end(backend);
        backend = backend(1, within);
    }

    @Test
    void aConfirmedGrantOfEachKindIsInTheReplica() {
        beginAgain(IN_TIME);
        Store atReplica = Store.observing(replica);
        for (LockKind kind : LockKind.values()) {
            LockKey key = LockKey.of(kind, kind + " lock");
            assertThat(Store.answer(backend.tryAcquire(Store.claim(key, Waiting.NONE))))
                    .isInstanceOf(LockAttempt.Acquired.class);
            assertThat(atReplica.keys()).contains(Store.holderKey(key));
        }
        atReplica.stopObserving();
    }

    @Test
    void tooFewReplicasAreATransientErrorThatSaysHowManyAndWhatToDo() {
        RedisLockBackend greedy = backend(2);
        LockClaim claim = Store.claim("orders");
        List<LockBackendException> failures = new ArrayList<>();
        eventually(
                () -> { // the only replica may be too late, once
                    failures.add(catchThrowableOfType(
                            LockBackendException.class, () -> Store.answer(greedy.tryAcquire(claim))));
                    return !failures.get(failures.size() - 1).getMessage().contains("0 of 2");
                });
        LockBackendException failure = failures.get(failures.size() - 1);
        assertThat(failure)
                .hasMessageContaining("'orders'")
                .hasMessageContaining("1 of 2 replicas")
                .hasMessageContaining("within 300 ms")
                .hasMessageContaining("INFO replication")
                .hasMessageContaining("confirmGrants");
        assertThat(failure.isTransient()).isTrue();
        assertThat(failure.lockName()).isEqualTo("orders");
        assertThat(Store.answer(greedy.release(claim))).isEqualTo(Ownership.HELD);
        Store.end(greedy);
    }

    @Test
    void aReplicaThatHangsCountsAgainWhenItIsBackAndTheSameClaimIsGranted() {
        replica.pause();
        LockClaim claim = Store.claim("orders");
        assertThatThrownBy(() -> Store.answer(backend.tryAcquire(claim)))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("0 of 1 replicas");
        replica.resume();
        List<LockAttempt> answers = new ArrayList<>();
        eventually(() -> answers.addAll(answers(claim.withAttempt(2))));
        assertThat(answers).singleElement().isInstanceOf(LockAttempt.Acquired.class);
        assertThat(Store.answer(backend.release(claim.withAttempt(2)))).isEqualTo(Ownership.HELD);
    }

    private List<LockAttempt> answers(LockClaim claim) {
        return Store.answer(backend.tryAcquire(claim)
                .flux()
                .onErrorResume(LockBackendException.class, notYet -> Flux.empty())
                .collectList());
    }

    @Test
    void anAcquisitionWaitsUntilTheReplicaIsBack() {
        List<LockEvent> events = new CopyOnWriteArrayList<>();
        LockClient client = client(events);
        replica.pause();
        CompletableFuture<LockLease> acquired = client.lock("orders").acquire().toFuture();
        eventually(() -> events.stream().anyMatch(LockEvent.AttemptFailed.class::isInstance));
        assertThat(acquired).isNotDone();
        replica.resume();
        LockLease lease = acquired.join();
        assertThat(lease.isValid()).isTrue();
        await(lease.release());
        await(client.close());
    }

    @Test
    void anAcquisitionThatIsNotConfirmedInTimeEndsWithTheReasonAndLeavesNoLock() {
        LockClient client = client(new CopyOnWriteArrayList<>());
        // So that the time is not that of the first connection.
        await(await(client.lock("orders").acquire()).release());
        replica.pause();
        LockOptions brief =
                LockOptions.builder().waitTimeout(Duration.ofSeconds(1)).build();
        LockTimeoutException late = catchThrowableOfType(
                LockTimeoutException.class,
                () -> await(client.lock("orders").with(brief).acquire()));
        assertThat(late).hasCauseInstanceOf(LockBackendException.class);
        assertThat(late.getCause()).hasMessageContaining("0 of 1 replicas");
        eventually(() -> !store.isHeld(Store.holderKey("orders")));
        await(client.close());
    }

    private LockClient client(List<LockEvent> events) {
        return LockClient.builder(backend(1))
                .operationTimeout(Duration.ofSeconds(1))
                .listener(events::add)
                .build();
    }

    @Test
    void aPushedGrantIsConfirmedByAnAttemptBeforeItCounts() throws InterruptedException {
        LockClaim holder = Store.claim("orders");
        LockClaim waiter = Store.claim("orders", Waiting.QUEUE);
        Store.answer(backend.tryAcquire(holder));
        BlockingQueue<WatchSignal> signals = new LinkedBlockingQueue<>();
        Disposable watch = backend.watch(waiter).subscribe(signals::add);
        assertThat(Store.answer(backend.tryAcquire(waiter))).isInstanceOf(LockAttempt.Queued.class);
        assertThat(signals.poll(10, TimeUnit.SECONDS)).isInstanceOf(WatchSignal.Armed.class);
        replica.pause();
        assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);

        assertThat(signals.poll(10, TimeUnit.SECONDS)).isInstanceOf(WatchSignal.Changed.class);
        assertThatThrownBy(() -> Store.answer(backend.tryAcquire(waiter.withAttempt(2))))
                .hasMessageContaining("0 of 1 replicas");
        replica.resume();
        eventually(() -> !answers(waiter.withAttempt(3)).isEmpty());
        watch.dispose();
    }

    @Test
    void aGrantThatIsGoneBeforeItsConfirmationIsNotGiven() {
        beginAgain(Duration.ofSeconds(1));
        LockClaim blocker = Store.claim("blocker");
        LockClaim claim = Store.claim("orders");
        replica.pause();
        CompletableFuture<LockAttempt> first = backend.tryAcquire(blocker).toFuture();
        eventually(() -> store.redis().clientList().contains("cmd=wait"));
        CompletableFuture<LockAttempt> second = backend.tryAcquire(claim).toFuture();
        eventually(() -> store.redis().del(Store.holderKey("orders")) == 1);

        assertThat(first).failsWithin(IN_TIME);
        assertThat(second).succeedsWithin(IN_TIME).isInstanceOf(LockAttempt.Contended.class);
        assertThat(Store.answer(backend.renew(claim))).isInstanceOf(Renewal.NotHeld.class);
        replica.resume();
    }

    @Test
    void grantsAtOneTimeShareAConfirmation() {
        beginAgain(IN_TIME);
        Store.answer(backend.tryAcquire(Store.claim("warm-up")));
        store.redis().configResetstat();
        int locks = 200;
        List<LockAttempt> answers = Store.answer(Flux.range(0, locks)
                .flatMap(i -> backend.tryAcquire(Store.claim("lock-" + i)), locks)
                .collectList());
        assertThat(answers).hasSize(locks).allMatch(LockAttempt.Acquired.class::isInstance);
        long waits = store.calls("wait");
        System.out.println("[holdfast] " + locks + " grants at once were confirmed by " + waits + " WAIT");
        assertThat(waits).isLessThan(locks);
        assertThat(store.calls("evalsha"))
                .as("joined or not, and one renewal for each WAIT")
                .isLessThanOrEqualTo(locks + waits);
    }

    @Test
    void aGrantAloneCostsARenewalAndAWait() {
        beginAgain(IN_TIME);
        cycle("warm-up");
        store.redis().configResetstat();
        for (int i = 0; i < 20; i++) {
            cycle("orders");
        }
        assertThat(store.calls("wait")).isEqualTo(20);
        assertThat(store.calls("evalsha")).isEqualTo(60);
        assertThat(store.calls("eval")).isZero();
    }

    private void cycle(String name) {
        LockClaim claim = Store.claim(name);
        assertThat(Store.answer(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(Store.answer(backend.release(claim))).isEqualTo(Ownership.HELD);
    }

    @Test
    void othersAreServedWhileAConfirmationBlocks() {
        beginAgain(IN_TIME);
        LockClaim held = Store.claim("held");
        Store.answer(backend.tryAcquire(held));
        replica.pause();
        CompletableFuture<LockAttempt> blocked =
                backend.tryAcquire(Store.claim("orders")).toFuture();
        eventually(() -> store.redis().clientList().contains("cmd=wait"));
        assertThat(Store.answer(backend.renew(held))).isInstanceOf(Renewal.Held.class);
        assertThat(Store.answer(backend.release(held))).isEqualTo(Ownership.HELD);
        assertThat(blocked).isNotDone();
        replica.resume();
        assertThat(blocked).succeedsWithin(IN_TIME.multipliedBy(2)).isInstanceOf(LockAttempt.Acquired.class);
    }

    @Test
    void anAcquisitionThatLeavesDuringItsConfirmationDoesNotDelayTheNext() {
        RedisLockBackend patient = RedisLockBackend.builder(store.uri())
                .confirmGrants(1, Duration.ofMinutes(1))
                .build();
        replica.pause();
        Disposable leaving = patient.tryAcquire(Store.claim("left")).subscribe();
        eventually(() -> store.redis().clientList().contains("cmd=wait"));
        CompletableFuture<LockAttempt> next =
                patient.tryAcquire(Store.claim("next")).toFuture();
        eventually(() -> store.keys().contains(Store.holderKey("next")));
        leaving.dispose();
        replica.resume();
        assertThat(next).succeedsWithin(Duration.ofSeconds(10)).isInstanceOf(LockAttempt.Acquired.class);
        Store.end(patient);
    }

    @Test
    void aServerThatForgotTheScriptGetsIt() {
        beginAgain(IN_TIME);
        Store.answer(backend.tryAcquire(Store.claim("first")));
        String flushed = store.redis().scriptFlush();
        assertThat(flushed).isEqualTo("OK");
        assertThat(Store.answer(backend.tryAcquire(Store.claim("second")))).isInstanceOf(LockAttempt.Acquired.class);
    }

    @Test
    void aLostConnectionIsMadeAnew() {
        Store.answer(backend.tryAcquire(Store.claim("first")));
        assertThat(store.redis().clientKill(KillArgs.Builder.typeNormal().skipme()))
                .as("that which waits for the replicas")
                .isPositive();
        assertThat(store.redis().clientKill(KillArgs.Builder.typePubsub())).isOne();
        LockClaim second = Store.claim("second");
        eventually(() -> !answers(second).isEmpty());
    }

    @Test
    void closingEndsWhatIsBeingConfirmed() {
        RedisLockBackend closing = RedisLockBackend.builder(store.uri())
                .confirmGrants(1, Duration.ofMinutes(1))
                .build();
        replica.pause();
        CompletableFuture<LockAttempt> blocked =
                closing.tryAcquire(Store.claim("orders")).toFuture();
        eventually(() -> store.redis().clientList().contains("cmd=wait"));
        Store.end(closing);
        assertThat(blocked).failsWithin(IN_TIME);
        replica.resume();
    }

    @Test
    void theDocumentedPermissionIsNeededAndEnough() {
        store.user("locker", RedisErrorsIT.DOCUMENTED_ACL);
        LockBackendException failure =
                catchThrowableOfType(LockBackendException.class, () -> acquireAs("locker", "first"));
        assertThat(failure).hasMessageContaining("the ACL forbids it");
        assertThat(failure.isTransient()).isFalse();
        store.user("confirmer", RedisErrorsIT.DOCUMENTED_ACL + " +wait");
        assertThat(acquireAs("confirmer", "second")).isInstanceOf(LockAttempt.Acquired.class);
    }

    private LockAttempt acquireAs(String user, String name) {
        RedisURI uri = RedisURI.builder(store.uri())
                .withAuthentication(user, "unused".toCharArray())
                .build();
        RedisLockBackend restricted =
                RedisLockBackend.builder(uri).confirmGrants(1, WITHIN).build();
        try {
            return Store.answer(restricted.tryAcquire(Store.claim(name)));
        } finally {
            Store.end(restricted);
        }
    }
}
