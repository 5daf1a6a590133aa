package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.testkit.ExclusionProbe;
import io.holdfast.testkit.server.FreePorts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;
import org.apache.curator.test.TestingZooKeeperServer;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A test kills the leader of three servers. */
class ZooKeeperEnsembleIT {

    private static final Duration SESSION = Duration.ofSeconds(8);
    private static final int WAITERS = 10;

    private TestingCluster cluster;
    private List<CuratorFramework> clients;
    private List<LockClient> locks;

    @BeforeEach
    void start() throws Exception {
        cluster = new TestingCluster(IntStream.range(0, 3)
                .mapToObj(i ->
                        new InstanceSpec(null, FreePorts.next(), FreePorts.next(), FreePorts.next(), true, -1, 500, -1))
                .toArray(InstanceSpec[]::new));
        cluster.start();
        clients = IntStream.range(0, 3)
                .mapToObj(i -> Store.connect("ensemble", cluster.getConnectString(), SESSION))
                .toList();
        locks = clients.stream()
                .map(client -> LockClient.create(ZooKeeperLockBackend.over(client)))
                .toList();
    }

    @AfterEach
    void stop() throws Exception {
        locks.forEach(it -> Waiting.forMono(it.close()));
        clients.forEach(CuratorFramework::close);
        cluster.close();
    }

    private TestingZooKeeperServer leader() {
        return Waiting.untilSome(
                "there is a leader",
                () -> cluster.getServers().stream()
                        .filter(server -> mode(server).contains("Mode: leader"))
                        .findFirst()
                        .orElse(null));
    }

    private static String mode(TestingZooKeeperServer server) {
        try (Socket socket = new Socket(
                InetAddress.getLoopbackAddress(), server.getInstanceSpec().getPort())) {
            socket.setSoTimeout(2_000);
            socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        } catch (IOException down) {
            return "down";
        }
    }

    @Test
    void exclusionAndRisingTokensSurviveTheLeader() throws Exception {
        ExclusionProbe probe = ExclusionProbe.exclusive();
        AtomicBoolean goesOn = new AtomicBoolean(true);
        AtomicInteger lost = new AtomicInteger();
        LockOptions patient =
                LockOptions.builder().waitTimeout(Duration.ofSeconds(60)).build();
        Mono<Void> all = Flux.fromIterable(locks)
                .flatMap(client -> Mono.defer(() -> client.lock("leader")
                                .with(patient)
                                .withLock(lease -> probe.guard(lease.fencingToken(), Mono.delay(Duration.ofMillis(2)))))
                        .onErrorResume(error -> {
                            lost.incrementAndGet();
                            return Mono.just(0L);
                        })
                        .repeat(goesOn::get)
                        .then())
                .then();
        var running = all.toFuture();
        Waiting.until("clients hold the lock in turns", () -> probe.entries() > 50);
        TestingZooKeeperServer leader = leader();
        leader.kill();
        int before = probe.entries();
        Waiting.until(
                "clients hold the lock in turns again", Duration.ofSeconds(30), () -> probe.entries() > before + 50);
        goesOn.set(false);
        assertThat(running).succeedsWithin(Duration.ofSeconds(30));
        probe.verify();
        assertThat(probe.tokens()).isSorted().doesNotHaveDuplicates();
        System.out.printf("leader killed: %d sections, %d cut short%n", probe.entries(), lost.get());
    }

    @Test
    void heldLockAndItsWaitersSurviveTheLeader() throws Exception {
        LockLease lease = Waiting.forMono(locks.get(0).lock("held").acquire());
        var next = locks.get(1).lock("held").acquire().toFuture();
        leader().kill();
        awaitAnotherLeader();
        long token = lease.fencingToken();
        if (lease.isValid()) {
            Waiting.forMono(lease.release());
        }
        assertThat(next).succeedsWithin(Duration.ofSeconds(30));
        assertThat(next.join().fencingToken()).isGreaterThan(token);
        Waiting.forMono(next.join().release());
    }

    @Test
    void waitersKeepTheirOrderWhenTheLeaderIsKilled() throws Exception {
        ExclusionProbe probe = ExclusionProbe.exclusive();
        LockLease held = Waiting.forMono(locks.get(0).lock("ordered").acquire());
        LockOptions patient =
                LockOptions.builder().waitTimeout(Duration.ofSeconds(60)).build();
        List<Integer> served = new CopyOnWriteArrayList<>();
        List<CompletableFuture<Integer>> waiters = new ArrayList<>();
        for (int i = 0; i < WAITERS; i++) {
            int place = i;
            waiters.add(locks.get(i % locks.size())
                    .lock("ordered")
                    .with(patient)
                    .withLock(lease -> probe.guard(
                            lease.fencingToken(),
                            Mono.delay(Duration.ofMillis(2))
                                    .doOnNext(tick -> served.add(place))
                                    .thenReturn(place)))
                    .toFuture());
            Waiting.until("the claim is in the queue", () -> claims("ordered") == place + 2);
        }
        leader().kill();
        awaitAnotherLeader();
        int servedMeanwhile = served.size();
        if (held.isValid()) {
            assertThat(servedMeanwhile).as("granted while the lock is held").isZero();
            Waiting.forMono(held.release());
        }
        assertThat(CompletableFuture.allOf(waiters.toArray(CompletableFuture<?>[]::new)))
                .succeedsWithin(Duration.ofSeconds(60));
        assertThat(served)
                .containsExactlyElementsOf(IntStream.range(0, WAITERS).boxed().toList());
        probe.verify();
        assertThat(probe.tokens()).isSorted().doesNotHaveDuplicates().allMatch(token -> token > held.fencingToken());
        Waiting.until("no node is left", () -> claims("ordered") == 0);
    }

    private void awaitAnotherLeader() {
        Waiting.until(
                "there is another leader",
                Duration.ofSeconds(20),
                () -> cluster.getServers().stream()
                                .filter(server -> mode(server).contains("Mode: leader"))
                                .count()
                        == 1);
    }

    /** Counts holders and waiters; negative if no server answers. */
    private int claims(String lock) {
        try {
            return clients.get(0)
                    .getChildren()
                    .forPath("/holdfast/mutex/" + lock)
                    .size();
        } catch (KeeperException.NoNodeException none) {
            return 0;
        } catch (KeeperException unknown) {
            return -1;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
