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
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;
import org.apache.curator.test.TestingZooKeeperServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Three servers, of which the leader is killed. */
class ZooKeeperEnsembleIT {

    private static final Duration SESSION = Duration.ofSeconds(8);

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
        Waiting.until("they are at work", () -> probe.entries() > 50);
        TestingZooKeeperServer leader = leader();
        leader.kill();
        int before = probe.entries();
        Waiting.until("they are at work again", Duration.ofSeconds(30), () -> probe.entries() > before + 50);
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
        Waiting.until(
                "there is another leader",
                Duration.ofSeconds(20),
                () -> cluster.getServers().stream()
                                .filter(server -> mode(server).contains("Mode: leader"))
                                .count()
                        == 1);
        long token = lease.fencingToken();
        if (lease.isValid()) {
            Waiting.forMono(lease.release());
        }
        assertThat(next).succeedsWithin(Duration.ofSeconds(30));
        assertThat(next.join().fencingToken()).isGreaterThan(token);
        Waiting.forMono(next.join().release());
    }
}
