package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.PutOption;
import io.holdfast.LockClient;
import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.testkit.server.TcpProxy;
import io.holdfast.testkit.server.TcpProxy.Direction;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class EtcdFenceIT {

    private static final LockOptions BRIEF =
            LockOptions.builder().leaseDuration(Duration.ofSeconds(2)).build();

    private static EtcdStore store;
    private static EtcdLockBackend backend;
    private static LockClient locks;
    private static EtcdLockBackend otherBackend;
    private static LockClient others;
    private static LockInspector inspector;

    @BeforeAll
    static void start() {
        store = EtcdStore.start();
        backend = EtcdLockBackend.over(store.client());
        locks = LockClient.create(backend);
        otherBackend = EtcdLockBackend.over(store.client());
        others = LockClient.create(otherBackend);
        inspector = EtcdLockBackend.builder(store.client()).inspector();
    }

    @AfterAll
    static void stop() {
        if (store != null) {
            Waiting.forMono(
                    Mono.when(locks.close(), others.close(), inspector.close()).thenReturn(true));
            store.close();
        }
    }

    private static boolean write(Client client, Cmp[] fence, String key, String value) {
        return Waiting.forMono(Mono.fromFuture(() -> client.getKVClient()
                        .txn()
                        .If(fence)
                        .Then(Op.put(EtcdStore.bytes(key), EtcdStore.bytes(value), PutOption.DEFAULT))
                        .commit()))
                .isSucceeded();
    }

    private static String value(String key) {
        return Waiting.forMono(Mono.fromFuture(store.eye().getKVClient().get(EtcdStore.bytes(key))))
                .getKvs()
                .get(0)
                .getValue()
                .toString();
    }

    @Test
    void writeOfTheHolderIsCommitted() {
        LockLease lease = Waiting.forMono(locks.lock("stock/1").acquire());
        assertThat(write(store.eye(), EtcdFence.of(backend, lease), "data/1", "mine"))
                .isTrue();
        assertThat(value("data/1")).isEqualTo("mine");
        Waiting.forMono(lease.release().thenReturn(true));
        assertThatThrownBy(() -> EtcdFence.of(backend, lease)).isInstanceOf(LockLostException.class);
    }

    /** The holder prepared its transaction, was paused, and lost the lock meanwhile. */
    @Test
    void writeOfAPausedFormerHolderIsRefused() {
        LockLease former = Waiting.forMono(locks.lock("stock/2").acquire());
        Cmp[] prepared = EtcdFence.of(backend, former);
        LockHolder seen = Waiting.forMono(
                inspector.inspect("stock/2").flatMapIterable(it -> it.holders()).single());
        assertThat(Waiting.forMono(inspector.breakHold("stock/2", seen))).isTrue();
        LockLease next = Waiting.forMono(others.lock("stock/2").acquire());
        assertThat(next.fencingToken()).isGreaterThan(former.fencingToken());
        assertThat(write(store.eye(), EtcdFence.of(otherBackend, next), "data/2", "next"))
                .isTrue();
        assertThat(write(store.eye(), prepared, "data/2", "former")).isFalse();
        assertThat(value("data/2")).isEqualTo("next");
        Waiting.forMono(next.release().thenReturn(true));
    }

    /** The holder is cut off until its lease has ended. Its write arrives afterwards. */
    @Test
    void writeOfAHolderThatWasCutOffIsRefused() {
        TcpProxy proxy = TcpProxy.to("127.0.0.1", store.server().port());
        Client client = store.client("http://" + proxy.host() + ':' + proxy.port());
        EtcdLockBackend cutOff =
                EtcdLockBackend.builder(client).presence(Duration.ofSeconds(2)).build();
        LockClient itsLocks = LockClient.builder(cutOff).options(BRIEF).build();
        LockLease former = Waiting.forMono(itsLocks.lock("stock/3").acquire());
        Cmp[] prepared = EtcdFence.of(cutOff, former);
        proxy.drop(Direction.TO_SERVER, Direction.TO_CLIENT);
        LockLease next = Waiting.forMono(others.lock("stock/3").acquire());
        assertThat(write(store.eye(), EtcdFence.of(otherBackend, next), "data/3", "next"))
                .isTrue();
        proxy.pass();
        proxy.cut();
        assertThat(write(client, prepared, "data/3", "former")).isFalse();
        assertThat(value("data/3")).isEqualTo("next");
        Waiting.forMono(next.release().thenReturn(true));
        Waiting.forMono(itsLocks.close().thenReturn(true));
        proxy.close();
    }

    @Test
    void writeOfAWriterThatBecameAReaderIsRefused() {
        LockLease writer =
                Waiting.forMono(locks.readWriteLock("stock/4").writeLock().acquire());
        Cmp[] prepared = EtcdFence.of(backend, writer);
        assertThat(write(store.eye(), prepared, "data/4", "writer")).isTrue();
        LockLease reader = Waiting.forMono(writer.downgrade());
        assertThat(write(store.eye(), prepared, "data/4", "late")).isFalse();
        assertThat(write(store.eye(), EtcdFence.of(backend, reader), "data/4", "reader"))
                .isTrue();
        Waiting.forMono(reader.release().thenReturn(true));
    }

    @Test
    void leaseThatTheBackEndDoesNotKnowNeverMatches() {
        LockLease lease = Waiting.forMono(locks.lock("stock/5").acquire());
        assertThat(write(store.eye(), EtcdFence.of(otherBackend, lease), "data/5", "no"))
                .isFalse();
        Waiting.forMono(lease.release().thenReturn(true));
    }
}
