package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.testkit.server.TcpProxy;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

class EtcdFaultsIT {

    private static final LockOptions OPTIONS =
            LockOptions.builder().leaseDuration(Duration.ofSeconds(6)).build();

    private static EtcdStore store;
    private static LockClient locks;
    private static TcpProxy proxy;
    private static EtcdLockBackend behindProxy;
    private static LockClient others;

    @BeforeAll
    static void start() {
        store = EtcdStore.start();
        locks = client(EtcdLockBackend.over(store.client()));
        proxy = TcpProxy.to("127.0.0.1", store.server().port());
        behindProxy = EtcdLockBackend.over(store.client("http://" + proxy.host() + ':' + proxy.port()));
        others = client(behindProxy);
    }

    @AfterAll
    static void stop() {
        if (store != null) {
            Waiting.forMono(Mono.when(locks.close(), others.close()).thenReturn(true));
            proxy.close();
            store.close();
        }
    }

    private static LockClient client(EtcdLockBackend backend) {
        return LockClient.builder(backend).options(OPTIONS).build();
    }

    private static void release(LockLease lease) {
        Waiting.forMono(lease.release().thenReturn(true));
    }

    private static void untilWaiting(String name) {
        untilPlaces(name, 2);
    }

    private static void untilPlaces(String name, int least) {
        Waiting.until(
                "%d claims of %s have places".formatted(least, name),
                () -> store.claims().stream()
                                .filter(it -> it.contains("/" + name + "/"))
                                .count()
                        >= least);
    }

    private static long token(CompletableFuture<LockLease> waiting) throws Exception {
        LockLease lease = waiting.get(20, TimeUnit.SECONDS);
        long token = lease.fencingToken();
        release(lease);
        return token;
    }

    @Test
    void waiterWhoseConnectionIsCutIsServed() throws Exception {
        LockLease holder = Waiting.forMono(locks.lock("cut").acquire());
        CompletableFuture<LockLease> waiting = others.lock("cut").acquire().toFuture();
        untilWaiting("cut");
        proxy.cut();
        release(holder);
        assertThat(token(waiting)).isGreaterThan(holder.fencingToken());
    }

    @Test
    void holderWhoseConnectionIsCutKeepsTheLock() {
        LockLease holder = Waiting.forMono(others.lock("kept").acquire());
        proxy.cut();
        Waiting.forMono(holder.renew().thenReturn(true).retry(5));
        assertThat(holder.isValid()).isTrue();
        assertThat(Waiting.forMono(locks.lock("kept").tryAcquire().hasElement()))
                .isFalse();
        release(holder);
        release(Waiting.forMono(locks.lock("kept").acquire()));
    }

    /** The revision from which the watch would go on is compacted while the connection is cut. */
    @Test
    void compactionUnderAWatchLosesNoHandOff() throws Exception {
        LockLease holder = Waiting.forMono(locks.lock("compacted").acquire());
        CompletableFuture<LockLease> waiting =
                others.lock("compacted").acquire().toFuture();
        untilWaiting("compacted");
        proxy.cut();
        release(holder);
        Client eye = store.eye();
        long revision = Waiting.forMono(
                        Mono.fromFuture(eye.getKVClient().put(EtcdStore.bytes("other"), EtcdStore.bytes("data"))))
                .getHeader()
                .getRevision();
        Waiting.forMono(Mono.fromFuture(eye.getKVClient().compact(revision)));
        assertThat(token(waiting)).isGreaterThan(holder.fencingToken());
    }

    @Test
    void leaseThatAnOperatorRevokesIsALossAndTheNextWaiterHasTheLock() throws Exception {
        LockLease holder = Waiting.forMono(others.lock("revoked").acquire());
        CompletableFuture<LossReason> loss = holder.onLoss().toFuture();
        CompletableFuture<LockLease> waiting = locks.lock("revoked").acquire().toFuture();
        untilWaiting("revoked");
        GetOption all = GetOption.builder().isPrefix(true).build();
        long lease = Waiting.forMono(Mono.fromFuture(
                        store.eye().getKVClient().get(EtcdStore.bytes("holdfast/line/mutex/revoked/"), all)))
                .getKvs()
                .stream()
                .filter(it -> it.getCreateRevision() == holder.fencingToken())
                .findFirst()
                .orElseThrow()
                .getLease();
        Waiting.forMono(Mono.fromFuture(store.eye().getLeaseClient().revoke(lease)));
        assertThat(loss.get(20, TimeUnit.SECONDS)).isIn(LossReason.DISCONNECTED, LossReason.NOT_HELD);
        assertThat(token(waiting)).isGreaterThan(holder.fencingToken());
        // Its client has new leases.
        release(Waiting.forMono(others.lock("revoked").acquire()));
    }

    @Test
    void serverThatRestartsKeepsTheLocks() throws Exception {
        LockLease holder = Waiting.forMono(locks.lock("restarted").acquire());
        CompletableFuture<LockLease> waiting =
                others.lock("restarted").acquire().toFuture();
        untilWaiting("restarted");
        store.server().restart();
        Waiting.forMono(holder.renew()
                .thenReturn(true)
                .retryWhen(reactor.util.retry.Retry.fixedDelay(20, Duration.ofMillis(200))));
        assertThat(holder.isValid()).isTrue();
        assertThat(waiting).isNotDone();
        release(holder);
        assertThat(token(waiting)).isGreaterThan(holder.fencingToken());
    }

    /** The client that gave the lease away has forgotten it, and would use its key for the next claim. */
    @Test
    void claimWhoseKeyAnAdoptedLeaseHasComesUnderAnotherKey() {
        EtcdLockBackend first = EtcdLockBackend.over(store.client());
        EtcdLockBackend second = EtcdLockBackend.over(store.client());
        LockClaim given =
                claim(LockKind.MUTEX, "given", io.holdfast.spi.Waiting.NONE).withLease(Duration.ofSeconds(1));
        long token = token(first.tryAcquire(given));
        LockClaim adopted = given.withLease(Duration.ofSeconds(30));
        assertThat(Waiting.forMono(second.adopt(adopted, token))).isInstanceOf(Renewal.Held.class);
        Waiting.until("the client has forgotten it", () -> first.contents().isEmpty());

        LockClaim trying = claim(LockKind.MUTEX, "given", io.holdfast.spi.Waiting.NONE);
        assertThat(Waiting.forMono(first.tryAcquire(trying))).isInstanceOf(LockAttempt.Contended.class);
        LockClaim waiting = claim(LockKind.MUTEX, "given", io.holdfast.spi.Waiting.QUEUE);
        assertThat(Waiting.forMono(first.tryAcquire(waiting))).isInstanceOf(LockAttempt.Queued.class);
        assertThat(Waiting.forMono(second.release(adopted))).isEqualTo(Ownership.HELD);
        assertThat(token(first.tryAcquire(waiting.withAttempt(2)))).isGreaterThan(token);
        assertThat(Waiting.forMono(first.release(waiting.withAttempt(2)))).isEqualTo(Ownership.HELD);
        assertThat(store.claims()).noneMatch(it -> it.contains("/given/"));
        Waiting.forMono(Mono.when(first.close(), second.close()).thenReturn(true));
    }

    /** It finds the place, the mark of the writer, and a waiting writer. */
    @Test
    void writerThatBecomesAReaderAtAnotherClientLetsReadersIn() {
        EtcdLockBackend first = EtcdLockBackend.over(store.client());
        EtcdLockBackend second = EtcdLockBackend.over(store.client());
        LockClaim writing = claim(LockKind.WRITE, "downgraded", io.holdfast.spi.Waiting.NONE);
        long token = token(first.tryAcquire(writing));
        LockClaim behind = claim(LockKind.WRITE, "downgraded", io.holdfast.spi.Waiting.QUEUE);
        LockClaim reading = new LockClaim(
                LockKey.of(LockKind.READ, "downgraded"),
                writing.id(),
                writing.lease(),
                io.holdfast.spi.Waiting.NONE,
                2,
                0,
                1,
                "");

        assertThat(Waiting.forMono(first.tryAcquire(behind))).isInstanceOf(LockAttempt.Queued.class);
        assertThat(Waiting.forMono(second.adopt(writing, token))).isInstanceOf(Renewal.Held.class);
        assertThat(token(second.tryAcquire(reading))).isEqualTo(token);
        assertThat(Waiting.forMono(first.release(behind))).isEqualTo(Ownership.NOT_HELD);
        assertThat(token(first.tryAcquire(claim(LockKind.READ, "downgraded", io.holdfast.spi.Waiting.NONE))))
                .isGreaterThan(token);
        Waiting.forMono(Mono.when(first.close(), second.close()).thenReturn(true));
    }

    /** The answer to its last renewal was lost, so the client does not know the last change of its place. */
    @Test
    void silentClaimLeavesTheLineAlthoughItsPlaceWasChangedByALateRequest() {
        EtcdLockBackend backend = EtcdLockBackend.over(store.client());
        LockClaim claim =
                claim(LockKind.MUTEX, "silent", io.holdfast.spi.Waiting.NONE).withLease(Duration.ofSeconds(1));
        assertThat(token(backend.tryAcquire(claim))).isPositive();
        KeyValue place = Waiting.forMono(Mono.fromFuture(store.eye()
                        .getKVClient()
                        .get(
                                EtcdStore.bytes("holdfast/line/mutex/silent/"),
                                GetOption.builder().isPrefix(true).build())))
                .getKvs()
                .get(0);
        PutOption onItsLease = PutOption.builder().withLeaseId(place.getLease()).build();
        Waiting.forMono(Mono.fromFuture(store.eye().getKVClient().put(place.getKey(), place.getValue(), onItsLease)));
        Waiting.until("the place is gone", () -> store.claims().stream().noneMatch(it -> it.contains("/silent/")));
        Waiting.forMono(backend.close().thenReturn(true));
    }

    /** The answer was lost, and others wait by now. */
    @ParameterizedTest
    @EnumSource(LockKind.class)
    void repeatedAttemptThatMustNotWaitFindsItsOwnHold(LockKind kind) {
        EtcdLockBackend backend = EtcdLockBackend.over(store.client());
        String name = "repeated-" + kind;
        LockClaim claim = claim(kind, name, io.holdfast.spi.Waiting.NONE);
        long token = token(backend.tryAcquire(claim));
        Waiting.forMono(backend.tryAcquire(
                claim(kind == LockKind.READ ? LockKind.WRITE : kind, name, io.holdfast.spi.Waiting.QUEUE)));

        assertThat(token(backend.tryAcquire(claim.withAttempt(2)))).isEqualTo(token);
        Waiting.forMono(backend.close().thenReturn(true));
    }

    private static LockClaim claim(LockKind kind, String name, io.holdfast.spi.Waiting waiting) {
        LockKey key = kind == LockKind.SEMAPHORE ? new LockKey(kind, name, 1) : LockKey.of(kind, name);
        return LockClaim.first(key, UUID.randomUUID().toString(), Duration.ofSeconds(6), waiting);
    }

    private static long token(Mono<LockAttempt> attempt) {
        LockAttempt answer = Waiting.forMono(attempt);
        assertThat(answer).isInstanceOf(LockAttempt.Acquired.class);
        return ((LockAttempt.Acquired) answer).fencingToken();
    }

    /** A release names the next claim of its client, and asks whether its place is there. */
    @Test
    void lockIsNotPassedOnToAClaimWhosePlaceIsGone() throws Exception {
        LockLease holder = Waiting.forMono(locks.lock("passed").acquire());
        CompletableFuture<LockLease> next = locks.lock("passed").acquire().toFuture();
        untilPlaces("passed", 2);
        String place = store.claims().stream()
                .filter(it -> it.contains("/passed/"))
                .filter(it -> created(it) > holder.fencingToken())
                .findFirst()
                .orElseThrow();
        CompletableFuture<LockLease> behind = others.lock("passed").acquire().toFuture();
        untilPlaces("passed", 3);
        Waiting.forMono(Mono.fromFuture(store.eye().getKVClient().delete(EtcdStore.bytes(place))));
        release(holder);
        LockLease second = behind.get(20, TimeUnit.SECONDS);
        assertThat(second.fencingToken()).isGreaterThan(holder.fencingToken());
        untilPlaces("passed", 2); // it has come back, behind
        assertThat(next).isNotDone();
        release(second);
        assertThat(token(next)).isGreaterThan(second.fencingToken());
    }

    /** Its next look finds that its place is gone, and makes another one, behind a claim that came meanwhile. */
    @Test
    void lockIsNotPassedOnToAClaimThatHasComeBackBehindAnother() throws Exception {
        LockLease holder = Waiting.forMono(locks.lock("back").acquire());
        CompletableFuture<LockLease> next = locks.lock("back").acquire().toFuture();
        untilPlaces("back", 2);
        String place = store.claims().stream()
                .filter(it -> it.contains("/back/"))
                .filter(it -> created(it) > holder.fencingToken())
                .findFirst()
                .orElseThrow();
        Waiting.forMono(Mono.fromFuture(store.eye().getKVClient().delete(EtcdStore.bytes(place))));
        CompletableFuture<LockLease> before = others.lock("back").acquire().toFuture();
        untilPlaces("back", 3);
        release(holder);
        LockLease second = before.get(20, TimeUnit.SECONDS);
        assertThat(next).isNotDone();
        release(second);
        assertThat(token(next)).isGreaterThan(second.fencingToken());
    }

    private static long created(String place) {
        return Waiting.forMono(Mono.fromFuture(store.eye().getKVClient().get(EtcdStore.bytes(place))))
                .getKvs()
                .get(0)
                .getCreateRevision();
    }

    @Test
    void closedBackEndFailsAndSaysSo() {
        EtcdLockBackend closed = EtcdLockBackend.over(store.client());
        Waiting.forMono(closed.close().thenReturn(true));
        assertThatThrownBy(() -> Waiting.forMono(closed.ping().thenReturn(true)))
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        error -> assertThat(error.isTransient()).isFalse())
                .hasMessageContaining("closed");
    }
}
