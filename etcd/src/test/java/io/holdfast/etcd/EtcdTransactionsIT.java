package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.WatchOption;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Requests that go together in one transaction. */
class EtcdTransactionsIT {

    private static final int MANY = 200;

    private static EtcdStore store;
    private static LockClient locks;

    @BeforeAll
    static void start() {
        store = EtcdStore.start();
        locks = LockClient.create(EtcdLockBackend.over(store.client()));
        release(acquire("first").get(0));
    }

    @AfterAll
    static void stop() {
        if (store != null) {
            Waiting.forMono(locks.close().thenReturn(true));
            store.close();
        }
    }

    private static List<LockLease> acquire(String name) {
        return Waiting.forMono(locks.lock(name).acquire().flux().collectList());
    }

    private static void release(LockLease lease) {
        Waiting.forMono(lease.release().thenReturn(true));
    }

    private static long revision() {
        return Waiting.forMono(Answers.of(() -> store.eye().getKVClient().get(EtcdStore.bytes("x"), GetOption.DEFAULT)))
                .getHeader()
                .getRevision();
    }

    /** Each transaction that changes something makes one revision. */
    @Test
    void locksOfManyNamesShareTransactions() {
        long before = revision();
        List<LockLease> held = Waiting.forMono(Flux.range(0, MANY)
                .flatMap(i -> locks.lock("many/" + i).acquire(), MANY)
                .collectList());
        Waiting.forMono(
                Flux.fromIterable(held).flatMap(LockLease::release, MANY).then(Mono.just(true)));
        assertThat(revision() - before).isLessThan(MANY);
        assertThat(store.claims()).noneMatch(it -> it.contains("/many/"));
    }

    /** The revision orders the claims of one lock. */
    @Test
    void claimsOfOneLockNeverShareARevision() {
        List<Long> tokens = Waiting.forMono(Flux.range(0, MANY)
                .flatMap(i -> locks.lock("one").withLock(lease -> Mono.just(lease.fencingToken())), MANY)
                .collectList());
        assertThat(new HashSet<>(tokens)).hasSize(MANY);
        assertThat(tokens).isSorted();
    }

    /** {@link EtcdFence} finds the claim of a lease by its name and token. */
    @Test
    void locksOfOneNameNeverShareARevision() {
        List<LockLease> held = Waiting.forMono(Flux.range(0, MANY)
                .flatMap(
                        i -> Flux.merge(
                                locks.lock("name/" + i).acquire(),
                                locks.semaphore("name/" + i, 1).acquire(),
                                locks.readWriteLock("name/" + i).writeLock().acquire()),
                        MANY)
                .collectList());
        assertThat(held).hasSize(3 * MANY).doesNotHaveDuplicates();
        assertThat(held.stream().map(it -> it.lockName() + ' ' + it.fencingToken()))
                .doesNotHaveDuplicates();
        Waiting.forMono(
                Flux.fromIterable(held).flatMap(LockLease::release, MANY).then(Mono.just(true)));
    }

    @Test
    void ofManyThatMustNotWaitOneHasTheLock() {
        List<LockLease> held = Waiting.forMono(Flux.range(0, MANY)
                .flatMap(i -> locks.lock("now").tryAcquire(), MANY)
                .collectList());
        assertThat(held).hasSize(1);
        release(held.get(0));
    }

    /** Until a compaction, etcd passes over each key that ever was in the line when it reads it. */
    @Test
    void claimsUseTheKeysOfEndedOnes() {
        int flows = 5;
        Queue<ByteSequence> put = new ConcurrentLinkedQueue<>();
        WatchOption puts = WatchOption.builder()
                .isPrefix(true)
                .withNoDelete(true)
                .withRevision(revision())
                .build();
        Watch.Listener listener = Watch.listener(response ->
                response.getEvents().forEach(it -> put.add(it.getKeyValue().getKey())));
        try (Watch.Watcher watcher =
                store.eye().getWatchClient().watch(EtcdStore.bytes("holdfast/line/mutex/history/"), puts, listener)) {
            Waiting.forMono(Flux.range(0, MANY)
                    .flatMap(i -> locks.lock("history").withLock(lease -> Mono.just(true)), flows)
                    .then(Mono.just(true)));
            Waiting.until("all have come", () -> put.size() == MANY);
            assertThat(watcher.isClosed()).isFalse();
        }
        assertThat(new HashSet<>(put)).hasSizeLessThanOrEqualTo(2 * flows);
    }

    /** What etcd refuses is sent again, each request alone: another's lease may be the one that has ended. */
    @Test
    void requestThatIsRefusedHarmsNoneThatWentWithIt() {
        try (EtcdStore ownStore = EtcdStore.start()) {
            LockClient own = LockClient.create(EtcdLockBackend.over(ownStore.client()));
            LockLease held = Waiting.forMono(own.lock("held").acquire());
            Waiting.forMono(held.renew().thenReturn(true)); // it is on a lease of its own duration now
            LockLease brief = Waiting.forMono(own.lock("brief").acquire());
            GetOption all = GetOption.builder().isPrefix(true).build();
            long presence = Waiting.forMono(Answers.of(
                            () -> ownStore.eye().getKVClient().get(EtcdStore.bytes("holdfast/line/mutex/brief/"), all)))
                    .getKvs()
                    .get(0)
                    .getLease();
            Waiting.forMono(Answers.of(() -> ownStore.eye().getLeaseClient().revoke(presence)));
            Waiting.forMono(Flux.range(0, MANY)
                    .flatMap(
                            i -> i % 10 == 0
                                    ? held.renew().thenReturn(true)
                                    : own.lock("many/" + i).withLock(lease -> Mono.just(true)),
                            MANY)
                    .then(Mono.just(true)));
            assertThat(held.isValid()).isTrue();
            assertThat(brief.isValid()).isFalse();
            Waiting.forMono(own.close().thenReturn(true));
        }
    }
}
