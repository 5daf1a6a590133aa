package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.PutOption;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.testkit.ExclusionProbe;
import io.holdfast.testkit.server.EtcdServer;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** Three members: leaders are killed and frozen. */
class EtcdClusterIT {

    private static final Retry SOON = Retry.fixedDelay(60, Duration.ofMillis(250));

    private static EtcdStore store;
    private static EtcdLockBackend backend;
    private static LockClient locks;
    private static LockClient others;

    @BeforeAll
    static void start() {
        store = EtcdStore.startThree();
        backend = EtcdLockBackend.over(store.client());
        LockOptions options =
                LockOptions.builder().leaseDuration(Duration.ofSeconds(15)).build();
        locks = LockClient.builder(backend).options(options).build();
        others = LockClient.builder(EtcdLockBackend.over(store.client()))
                .options(options)
                .build();
    }

    @AfterAll
    static void stop() {
        if (store != null) {
            Waiting.forMono(Mono.when(locks.close(), others.close()).thenReturn(true));
            store.close();
        }
    }

    private static EtcdServer leader() {
        return Waiting.untilSome(
                "a leader",
                () -> store.members().stream()
                        .filter(EtcdClusterIT::leads)
                        .findFirst()
                        .orElse(null));
    }

    private static boolean leads(EtcdServer member) {
        return Waiting.forMono(
                Mono.fromFuture(() -> store.eye().getMaintenanceClient().statusMember(member.endpoint()))
                        .map(it -> it.getLeader() == it.getHeader().getMemberId())
                        .timeout(Duration.ofSeconds(2))
                        .onErrorReturn(false));
    }

    private static void release(LockLease lease) {
        Waiting.forMono(lease.release().thenReturn(true));
    }

    @Test
    void lockSurvivesTheDeathOfTheLeader() {
        LockLease holder = Waiting.forMono(locks.lock("leader").acquire());
        Cmp[] fence = EtcdFence.of(backend, holder);
        EtcdServer leader = leader();
        leader.stop();
        Waiting.forMono(holder.renew().thenReturn(true).retryWhen(SOON));
        assertThat(holder.isValid()).isTrue();
        assertThat(Waiting.forMono(
                        others.lock("leader").tryAcquire().hasElement().retryWhen(SOON)))
                .isFalse();
        assertThat(Waiting.forMono(Mono.fromFuture(() -> store.eye()
                                        .getKVClient()
                                        .txn()
                                        .If(fence)
                                        .Then(Op.put(
                                                EtcdStore.bytes("data"), EtcdStore.bytes("mine"), PutOption.DEFAULT))
                                        .commit())
                                .retryWhen(SOON))
                        .isSucceeded())
                .isTrue();
        release(holder);
        LockLease next = Waiting.forMono(others.lock("leader").acquire().retryWhen(SOON));
        assertThat(next.fencingToken()).isGreaterThan(holder.fencingToken());
        release(next);
        leader.restart();
    }

    /** A frozen leader still believes in itself when it goes on. */
    @Test
    void frozenLeadersCauseNoOverlap() {
        ExclusionProbe probe = ExclusionProbe.exclusive();
        Mono<Long> work = Flux.range(0, 60)
                .flatMap(
                        i -> (i % 2 == 0 ? locks : others)
                                .lock("frozen")
                                .withLock(lease -> probe.guard(lease.fencingToken(), Mono.delay(Duration.ofMillis(20))))
                                .retryWhen(SOON),
                        6)
                .count();
        var done = work.toFuture();
        for (int i = 0; i < 2; i++) {
            EtcdServer leader = leader();
            leader.pause();
            Waiting.pass(Duration.ofSeconds(2));
            leader.resume();
            Waiting.pass(Duration.ofMillis(500));
        }
        assertThat(done).succeedsWithin(Waiting.PATIENCE).isEqualTo(60L);
        probe.verify();
    }
}
