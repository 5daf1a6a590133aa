package io.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.benchmarks.load.Count;
import io.holdfast.benchmarks.load.Lanes;
import io.holdfast.benchmarks.load.Load;
import io.holdfast.benchmarks.load.MasterFaults;
import io.holdfast.benchmarks.load.MasterFaults.Health;
import io.holdfast.benchmarks.peer.Peer;
import io.holdfast.benchmarks.peer.PostgresPeer;
import io.holdfast.benchmarks.peer.QuorumPeer;
import io.holdfast.benchmarks.peer.RedisPeer;
import io.holdfast.benchmarks.peer.ZooKeeperPeer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import reactor.core.publisher.Mono;

/** Tests that each compared peer excludes: otherwise a benchmark would measure a mistake. */
class PeersIT {

    private static final int CYCLES = 40;
    private static final int LANES = 4;

    private static Servers servers;

    @BeforeAll
    static void start() {
        servers = new Servers(true);
    }

    @AfterAll
    static void stop() {
        servers.close();
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "LETTUCE")
    void redisPeerLetsInOneAtATimeAndAllInTheEnd(RedisPeer choice) {
        exclude(choice.open(servers.addresses()), choice.open(servers.addresses()));
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "RAW")
    void zooKeeperPeerLetsInOneAtATimeAndAllInTheEnd(ZooKeeperPeer choice) {
        exclude(choice.open(servers.addresses()), choice.open(servers.addresses()));
    }

    @ParameterizedTest
    @EnumSource(
            mode = Mode.INCLUDE,
            names = {"HOLDFAST", "ADVISORY", "SPRING"})
    void postgresPeerLetsInOneAtATimeAndAllInTheEnd(PostgresPeer choice) {
        exclude(choice.open(servers.addresses()), choice.open(servers.addresses()));
    }

    @ParameterizedTest
    @EnumSource
    void postgresPeerCycles(PostgresPeer choice) {
        cycle(Load.distinct(choice.open(servers.addresses()), LANES));
    }

    @ParameterizedTest
    @EnumSource
    void quorumPeerCycles(QuorumPeer choice) {
        cycle(Load.distinct(choice.open(servers.addresses().masters()), LANES));
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "HEALTHY")
    void quorumPeersWorkWithoutAMinority(Health health) {
        goesOn(QuorumPeer.HOLDFAST, health);
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "HEALTHY")
    void rawQuorumPeerWorksWithoutAMinority(Health health) {
        goesOn(QuorumPeer.LETTUCE, health);
    }

    private void goesOn(QuorumPeer choice, Health health) {
        try (MasterFaults faults = new MasterFaults(health, servers.addresses())) {
            Load load = Load.distinct(choice.open(faults.masters()), LANES);
            load.restart();
            load.await(CYCLES);
            faults.begin();
            load.await(CYCLES);
            faults.end();
            load.close();
        }
    }

    @Test
    void limitsCycle() {
        cycle(Load.distinct(RedisPeer.LETTUCE.open(servers.addresses()), LANES));
        cycle(Load.distinct(ZooKeeperPeer.RAW.open(servers.addresses()), LANES));
    }

    private static void cycle(Load load) {
        try (load) {
            load.restart();
            load.await(CYCLES);
        }
    }

    private static void exclude(Peer one, Peer other) {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Mono<Void> work = Mono.fromRunnable(() -> {
            int now = inside.incrementAndGet();
            int unused = most.accumulateAndGet(now, Math::max);
            Thread.onSpinWait();
            int after = inside.decrementAndGet();
            assertThat(after).isNotNegative();
        });
        Count count = Count.here();
        try (one;
                other;
                Lanes ofOne = Lanes.start(one, Lanes.oneName("shared", LANES), count, work);
                Lanes ofOther = Lanes.start(other, Lanes.oneName("shared", LANES), count, work)) {
            long begin = System.nanoTime();
            while (count.value() < CYCLES) {
                assertThat(ofOne.failure()).isNull();
                assertThat(ofOther.failure()).isNull();
                assertThat(System.nanoTime() - begin)
                        .as("patience")
                        .isLessThan(Duration.ofSeconds(60).toNanos());
                LockSupport.parkNanos(1_000_000);
            }
        }
        assertThat(most).hasValue(1);
    }
}
