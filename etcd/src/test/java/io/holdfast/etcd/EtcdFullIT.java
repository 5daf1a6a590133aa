package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.Maintenance;
import io.etcd.jetcd.maintenance.AlarmMember;
import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.testkit.server.EtcdServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** A database that another program fills up to its quota. */
class EtcdFullIT {

    private static final Duration LEASE = Duration.ofSeconds(4);

    private static EtcdServer server;
    private static Client client;
    private static Client other;
    private static LockClient locks;
    private static LockClient others;

    @BeforeAll
    static void start() {
        EtcdStore.needsEtcd();
        server = EtcdServer.start("--quota-backend-bytes", "2000000");
        client = Client.builder().endpoints(server.endpoint()).build();
        other = Client.builder().endpoints(server.endpoint()).build();
        locks = locks(client);
        others = locks(other);
    }

    private static LockClient locks(Client of) {
        return LockClient.builder(EtcdLockBackend.over(of))
                .options(LockOptions.builder().leaseDuration(LEASE).build())
                .build();
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            Waiting.forMono(Mono.when(locks.close(), others.close()).thenReturn(true));
            client.close();
            other.close();
            server.close();
        }
    }

    @Test
    void fullDatabaseGivesNoLockEndsLeasesInTimeAndRecovers() throws Exception {
        LockLease holder = Waiting.forMono(locks.lock("full").acquire());
        LockLease released = Waiting.forMono(locks.lock("released").acquire());
        CompletableFuture<LossReason> loss = holder.onLoss().toFuture();
        fill();
        assertThatThrownBy(() -> Waiting.forMono(others.lock("another").tryAcquire()))
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        error -> assertThat(error.isTransient()).isTrue())
                .hasMessageContaining("database space exceeded")
                .hasMessageContaining("compact and defragment it, then run 'etcdctl alarm disarm'");
        assertThatThrownBy(() -> Waiting.forMono(holder.renew().thenReturn(true)))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("database space exceeded");
        Waiting.forMono(released.release().thenReturn(true)); // it goes on in the background
        assertThat(loss.get(LEASE.toSeconds() + 1, TimeUnit.SECONDS)).isEqualTo(LossReason.EXPIRED);
        repair();
        for (LockLease former : List.of(holder, released)) {
            LockLease next = Waiting.forMono(
                    others.lock(former.lockName()).acquire().retryWhen(Retry.fixedDelay(40, Duration.ofMillis(250))));
            assertThat(next.fencingToken()).isGreaterThan(former.fencingToken());
            Waiting.forMono(next.release().thenReturn(true));
        }
    }

    private static void fill() {
        ByteSequence value = ByteSequence.from(new byte[100_000]);
        Waiting.until(
                "the database is full",
                () -> Waiting.forMono(Mono.fromFuture(() -> client.getKVClient().put(EtcdStore.bytes("data"), value))
                        .map(it -> false)
                        .onErrorReturn(true)));
    }

    private static void repair() {
        long revision = Waiting.forMono(Mono.fromFuture(client.getKVClient().get(EtcdStore.bytes("data"))))
                .getHeader()
                .getRevision();
        Waiting.forMono(Mono.fromFuture(client.getKVClient().compact(revision)));
        Maintenance maintenance = client.getMaintenanceClient();
        Waiting.forMono(Mono.fromFuture(maintenance.defragmentMember(server.endpoint())));
        for (AlarmMember alarm :
                Waiting.forMono(Mono.fromFuture(maintenance.listAlarms())).getAlarms()) {
            Waiting.forMono(Mono.fromFuture(maintenance.alarmDisarm(alarm)));
        }
    }
}
