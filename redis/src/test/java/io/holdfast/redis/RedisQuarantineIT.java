package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.eventually;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.ReactiveLock;
import io.holdfast.redis.internal.connection.CommandLink;
import io.holdfast.redis.internal.connection.LettuceClient;
import io.holdfast.redis.internal.connection.ServerQuery;
import io.holdfast.redis.internal.connection.TlsOptions;
import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.holdfast.redis.internal.safety.Quarantine;
import io.holdfast.redis.internal.topology.SingleMasterTopology;
import io.holdfast.redis.internal.topology.Topology;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.lettuce.core.RedisURI;
import io.lettuce.core.TimeoutOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** A real master that is killed and started again must not vote for a while. */
class RedisQuarantineIT {

    private static final Duration QUARANTINE = Duration.ofSeconds(3);
    private static final Duration LONG = Duration.ofHours(1);

    private final Warnings warnings = Warnings.listen();
    private long startedAt;
    private Store store;
    private RedisLockBackend backend;

    @BeforeEach
    void start() {
        startedAt = System.nanoTime();
        store = Store.start();
    }

    @AfterEach
    void stop() {
        Store.end(backend);
        warnings.close();
        store.close();
    }

    private RedisLockBackend quarantined(Duration time) {
        return RedisLockBackend.builder(store.uri()).quarantine(time).build();
    }

    @Test
    void aMasterGrantsNothingUntilItIsOldEnough() {
        backend = quarantined(QUARANTINE);
        LockClaim claim = Store.claim("orders");
        LockBackendException refused = refused(claim);
        assertThat(refused.isTransient()).isTrue();
        assertThat(refused.retryAfter().orElseThrow()).isBetween(Duration.ofMillis(1), QUARANTINE.plusSeconds(1));
        assertThat(refused)
                .hasMessageContainingAll(
                        "'orders'", "127.0.0.1:" + store.server.port(), "has been up for", "quarantine")
                .hasMessageContainingAll("first 3 s", "wait ", "acquire()");
        Store.answer(backend.ping());
        assertThat(store.keys()).as("the client sent no attempt").isEmpty();
        eventually(() -> isGranted(claim));
        assertThat(age()).isGreaterThanOrEqualTo(QUARANTINE);
    }

    @Test
    void aRestartedMasterAcceptsNoRestorationUntilItIsOldEnough() {
        backend = quarantined(QUARANTINE);
        LockClaim held = Store.claim("orders");
        eventually(() -> isGranted(held));

        for (int i = 0; i < 2; i++) {
            startedAt = System.nanoTime();
            store.server.restart();
            // Without a pause, so that some attempts meet the old connection, some none, some the new one.
            eventually(() -> isRefused(held));
            assertThat(Store.answer(backend.renew(held))).isInstanceOf(Renewal.NotHeld.class);
            assertThat(Store.answer(backend.release(held))).isEqualTo(Ownership.NOT_HELD);
            LockClaim putBack = Store.claim("orders");
            eventually(() -> isGranted(putBack));
            assertThat(age()).isGreaterThanOrEqualTo(QUARANTINE);
            Store.answer(backend.release(putBack));
        }
    }

    /** Whether the quarantine refuses the attempt. */
    private boolean isRefused(LockClaim claim) {
        try {
            if (Store.answer(backend.tryAcquire(claim)) instanceof LockAttempt.Acquired) {
                assertThat(age()).as("a grant of the restarted server").isGreaterThanOrEqualTo(QUARANTINE);
            }
            return false;
        } catch (LockBackendException failed) {
            assertThat(failed.isTransient()).as(failed.getMessage()).isTrue();
            return failed.retryAfter().isPresent();
        }
    }

    private LockBackendException refused(LockClaim claim) {
        LockBackendException refused =
                catchThrowableOfType(LockBackendException.class, () -> Store.answer(backend.tryAcquire(claim)));
        assertThat(refused.retryAfter()).as(refused.getMessage()).isPresent();
        return refused;
    }

    @Test
    void anAcquireWaitsThroughTheQuarantineAndATryFails() {
        backend = quarantined(QUARANTINE.plusSeconds(1));
        LockOptions options = LockOptions.builder().leaseDuration(QUARANTINE).build();
        LockClient locks =
                LockClient.builder(backend).options(options).closeBackend(false).build();
        ReactiveLock lock = locks.lock("orders");

        assertThatThrownBy(() -> Store.answer(lock.tryAcquire()))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("quarantine");
        assertThatThrownBy(() -> Store.answer(lock.with(LockOptions.builder()
                                .leaseDuration(QUARANTINE)
                                .waitTimeout(Duration.ofMillis(100))
                                .build())
                        .acquire()))
                .isInstanceOfSatisfying(
                        LockTimeoutException.class,
                        error -> assertThat(error.backendAnswered()).isFalse())
                .hasMessageContaining("quarantine")
                .hasMessageNotContaining("was held");
        LockLease lease = Store.answer(lock.acquire());
        assertThat(age()).isGreaterThanOrEqualTo(QUARANTINE.plusSeconds(1));
        assertThat(lease.isValid()).isTrue();
        Store.answer(locks.close());
    }

    @Test
    void aLeaseThatOutlivesTheQuarantineIsRefused() {
        backend = quarantined(Duration.ofSeconds(10));
        LockClient.Builder client = LockClient.builder(backend)
                .options(LockOptions.builder()
                        .leaseDuration(Duration.ofMinutes(1))
                        .build());
        assertThatThrownBy(client::build)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("leaseDuration PT1M", "quarantine PT10S", "" + store.server.port());
        ReactiveLock lock = client.options(LockOptions.builder()
                        .leaseDuration(Duration.ofSeconds(10))
                        .build())
                .build()
                .lock("orders");
        assertThatThrownBy(() -> lock.with(LockOptions.defaults())).isInstanceOf(IllegalArgumentException.class);
    }

    /** A Redlock cancels many attempts at a master that is down; each of them used to be logged with a stack trace. */
    @Test
    void aCancelledAttemptAtAnUnreachableServerFailsSilently() {
        backend = quarantined(QUARANTINE);
        store.server.stop();
        List<Throwable> dropped = new CopyOnWriteArrayList<>();
        Hooks.onErrorDropped(dropped::add);
        try {
            for (int i = 0; i < 20; i++) {
                Leaving leaving = new Leaving();
                backend.tryAcquire(Store.claim("orders")).subscribe(leaving);
                leaving.leave();
                assertThatThrownBy(() -> Store.answer(backend.tryAcquire(Store.claim("orders"))))
                        .isInstanceOf(LockBackendException.class);
            }
        } finally {
            Hooks.resetOnErrorDropped();
            store.server.restart();
        }
        assertThat(dropped).isEmpty();
    }

    /** Ignores an error that comes with its cancellation: Reactor's own subscribers would call the hook for it. */
    private static final class Leaving implements CoreSubscriber<Object> {

        private volatile @Nullable Subscription subscription;

        void leave() {
            requireNonNull(subscription).cancel();
        }

        @Override
        public void onSubscribe(Subscription s) {
            subscription = s;
            s.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(Object attempt) {}

        @Override
        public void onError(Throwable error) {}

        @Override
        public void onComplete() {}
    }

    @Test
    void aServerThatDoesNotReportItsUptimeOnOneConnectionIsTriedOnAnother() throws IOException {
        AtomicInteger asked = new AtomicInteger();
        String old = "uptime_in_seconds:90000";
        try (FakeServer fake = FakeServer.answering(name -> switch (name) {
            case "hello" -> FakeServer.HELLO;
            case "ping" -> "+PONG";
            // Twice on each connection: for the eviction policy, too.
            case "info" -> asked.incrementAndGet() <= 2 ? null : "$" + old.length() + "\r\n" + old;
            case "evalsha" -> "*3\r\n:1\r\n:7\r\n:30000";
            default -> "+OK";
        })) {
            backend = RedisLockBackend.builder(RedisURI.create("127.0.0.1", fake.port()))
                    .quarantine(QUARANTINE)
                    .build();
            LockClaim claim = Store.claim("orders");
            eventually(() -> Store.answer(backend.tryAcquire(claim)
                            .timeout(Duration.ofMillis(200), Mono.just(new LockAttempt.Contended(Duration.ofMillis(1))))
                            .onErrorReturn(LockBackendException.class, new LockAttempt.Contended(Duration.ofMillis(1))))
                    instanceof LockAttempt.Acquired);
        }
    }

    @Test
    void renewalAndReleaseGoOnInQuarantine() {
        RedisLockBackend free = store.backend();
        LockClaim claim = Store.claim("orders");
        assertThat(Store.answer(free.tryAcquire(claim))).isInstanceOf(LockAttempt.Acquired.class);
        backend = quarantined(LONG);
        assertThat(refused(claim)).as("also a claim that holds").isNotNull();
        assertThat(Store.answer(backend.renew(claim))).isInstanceOf(Renewal.Held.class);
        assertThat(Store.answer(backend.release(claim))).isEqualTo(Ownership.HELD);
        Store.answer(backend.ping());
        Store.end(free);
    }

    @Test
    void aClaimThatWouldQueueLeavesNothingInQuarantine() {
        RedisLockBackend free = store.backend();
        Store.answer(free.tryAcquire(Store.claim("orders")));
        backend = quarantined(LONG);
        LockClaim waiter = Store.claim("orders", Waiting.QUEUE);
        assertThat(refused(waiter)).isNotNull();
        assertThat(Store.waiting(store.redis(), Store.holderKey("orders"))).isZero();
        Store.end(free);
    }

    @Test
    void aPushedGrantIsVerifiedByAnAttempt() throws InterruptedException {
        backend = quarantined(Duration.ofMillis(1));
        LockClaim holder = Store.claim("orders");
        eventually(() -> isGranted(holder));
        LockClaim waiter = Store.claim("orders", Waiting.QUEUE);
        BlockingQueue<WatchSignal> signals = new LinkedBlockingQueue<>();
        Disposable watch = backend.watch(waiter).subscribe(signals::add);
        assertThat(Store.answer(backend.tryAcquire(waiter))).isInstanceOf(LockAttempt.Queued.class);
        assertThat(signals.poll(10, TimeUnit.SECONDS)).isInstanceOf(WatchSignal.Armed.class);
        Store.answer(backend.release(holder));
        assertThat(signals.poll(10, TimeUnit.SECONDS)).isInstanceOf(WatchSignal.Changed.class);
        assertThat(Store.answer(backend.tryAcquire(waiter.withAttempt(2)))).isInstanceOf(LockAttempt.Acquired.class);
        watch.dispose();
    }

    @Test
    void uptimeIsReadOncePerConnection() {
        backend = quarantined(Duration.ofMillis(1));
        eventually(() -> isGranted(Store.claim("warm-up")));
        long before = store.calls("info");
        for (int i = 0; i < 50; i++) {
            assertThat(Store.answer(backend.tryAcquire(Store.claim("lock-" + i))))
                    .isInstanceOf(LockAttempt.Acquired.class);
        }
        assertThat(store.calls("info") - before).as("the command of the test").isEqualTo(1);
        assertThat(before).as("policy, uptime, and the command of the test").isLessThanOrEqualTo(3);
    }

    @Test
    void aGrantOnAnotherConnectionThanThatOfTheUptimeIsNotBelieved() {
        LettuceClient lettuce = LettuceClient.create(
                null,
                null,
                new TlsOptions(null, null, List.of(), List.of()),
                it -> it,
                TimeoutOptions.builder().timeoutCommands(false).build(),
                link -> {});
        Topology topology = new SingleMasterTopology(lettuce, store.uri());
        Quarantine quarantine = new Quarantine(
                topology, ExceptionTranslator.at(List.of(store.uri())), Duration.ofMillis(1), System::nanoTime);
        ExceptionTranslator.Subject subject = new ExceptionTranslator.Subject("orders", "acquire lock 'orders'");
        CompletableFuture<LockAttempt> answer = new CompletableFuture<>();
        AtomicInteger asked = new AtomicInteger();
        CompletableFuture<LockAttempt> attempt = quarantine
                .guard(
                        "orders",
                        () -> subject,
                        () -> Mono.defer(() -> {
                            asked.incrementAndGet();
                            return Mono.fromFuture(answer);
                        }))
                .retryWhen(Retry.indefinitely().filter(young -> asked.get() == 0)) // in the server's first second
                .toFuture();
        eventually(() -> asked.get() == 1);

        CommandLink link = topology.anyLink().join();
        store.server.restart();
        eventually(() -> ServerQuery.info(link, "server")
                .handle((text, error) -> error == null)
                .join());
        answer.complete(new LockAttempt.Acquired(1, Duration.ofSeconds(1)));

        assertThat(attempt)
                .failsWithin(Duration.ofSeconds(10))
                .withThrowableThat()
                .withCauseInstanceOf(LockBackendException.class)
                .withMessageContaining("may have been restarted");
        assertThat(lettuce.close().toFuture()).succeedsWithin(Duration.ofSeconds(10));
        backend = store.backend();
    }

    @Test
    void aUserWithoutInfoHasNoQuarantineAndGetsOneWarning() {
        store.user("locker", RedisErrorsIT.DOCUMENTED_ACL);
        RedisURI uri = RedisURI.builder(store.uri())
                .withAuthentication("locker", "any")
                .build();
        backend = RedisLockBackend.builder(uri).quarantine(LONG).build();
        for (int i = 0; i < 3; i++) {
            assertThat(Store.answer(backend.tryAcquire(Store.claim("lock-" + i))))
                    .isInstanceOf(LockAttempt.Acquired.class);
        }
        assertThat(warnings.texts())
                .singleElement()
                .satisfies(text -> assertThat(text)
                        .contains("no quarantine")
                        .contains("+info")
                        .contains("127.0.0.1:" + store.server.port()));
    }

    @Test
    void anInvalidQuarantineIsRefused() {
        RedisLockBackend.Builder builder = RedisLockBackend.builder(store.uri());
        for (Duration time : List.of(Duration.ofMillis(-1), Duration.ofDays(1).plusMillis(1))) {
            assertThatThrownBy(() -> builder.quarantine(time))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("quarantine");
        }
        RedisLockBackend.Builder cluster = RedisLockBackend.clusterBuilder(List.of(store.uri()));
        assertThatThrownBy(() -> cluster.quarantine(QUARANTINE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cluster");
        backend = cluster.quarantine(Duration.ZERO).build();
    }

    private boolean isGranted(LockClaim claim) {
        return attempt(claim) instanceof LockAttempt.Acquired;
    }

    private @Nullable LockAttempt attempt(LockClaim claim) {
        try {
            return Store.answer(backend.tryAcquire(claim));
        } catch (LockBackendException away) {
            assertThat(away.isTransient()).as(away.getMessage()).isTrue();
            return null;
        }
    }

    /** The server is not older than that: the clock began before the server was started. */
    private Duration age() {
        return Duration.ofNanos(System.nanoTime() - startedAt);
    }
}
