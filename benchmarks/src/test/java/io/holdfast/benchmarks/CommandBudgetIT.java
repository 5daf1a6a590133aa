package io.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.benchmarks.load.Count;
import io.holdfast.benchmarks.load.Lanes;
import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.benchmarks.peer.Peer;
import io.holdfast.benchmarks.peer.RedisPeer;
import io.holdfast.benchmarks.watch.Monitor;
import io.holdfast.benchmarks.watch.Monitor.Seen;
import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** The commands of the whole client, as the server counts them. They do not depend on the speed of the machine. */
class CommandBudgetIT {

    private static final int CYCLES = 300;

    /** Allows for heartbeats of a connection, and for attempts of a waiter on a slow machine. */
    private static final int NOW_AND_THEN = CYCLES / 10;

    private RedisServer server;
    private Addresses addresses;

    @BeforeEach
    void start() {
        server = RedisServer.start();
        addresses = new Addresses(server.uri(), List.of(), List.of(), "");
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void uncontendedCycleIsTwoCommands() {
        try (Peer peer = RedisPeer.HOLDFAST.open(addresses)) {
            cycles(peer, 10);
            try (Monitor monitor = Monitor.of(addresses.redis())) {
                cycles(peer, CYCLES);
                Seen seen = monitor.stop();
                assertThat(seen.onTheWire()).containsEntry("evalsha", 2 * CYCLES);
                assertThat(seen.total()).as("%s", seen).isBetween(2 * CYCLES, 2 * CYCLES + NOW_AND_THEN);
            }
        }
    }

    @Test
    void contendedCycleIsAtMostThreeCommands() {
        try (Peer one = RedisPeer.HOLDFAST.open(addresses);
                Peer other = RedisPeer.HOLDFAST.open(addresses)) {
            Count count = Count.here();
            try (Lanes ofOne = lanes(one, count);
                    Lanes ofOther = lanes(other, count)) {
                await(count, 20, ofOne, ofOther);
                awaitChannels(2);
                try (Monitor monitor = Monitor.of(addresses.redis())) {
                    long before = count.value();
                    await(count, CYCLES, ofOne, ofOther);
                    Seen seen = monitor.stop();
                    // What the lanes did while the monitor ended may be among the commands and not among the cycles, or
                    // the other way.
                    long most = 3 * (count.value() - before) + NOW_AND_THEN;
                    assertThat(seen.total()).as("%s", seen).isLessThanOrEqualTo((int) most);
                }
            }
        }
    }

    /** Clients open their channels while they wait for the first time. That costs commands, too. */
    private void awaitChannels(int count) {
        try (RedisClient client = RedisClient.create(addresses.redis())) {
            RedisCommands<String, String> redis = client.connect().sync();
            await(() -> redis.pubsubChannels().size() == count);
        }
    }

    private static void cycles(Peer peer, int count) {
        Object unused =
                peer.cycle("orders", Mono.empty()).repeat(count - 1L).then().block(Duration.ofSeconds(60));
    }

    private static Lanes lanes(Peer peer, Count count) {
        return Lanes.start(peer, Lanes.oneName("orders", 5), count, Mono.empty());
    }

    private static void await(Count count, int more, Lanes... all) {
        long target = count.value() + more;
        await(() -> {
            for (Lanes lanes : all) {
                assertThat(lanes.failure()).isNull();
            }
            return count.value() >= target;
        });
    }

    private static void await(BooleanSupplier condition) {
        long begin = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - begin)
                    .as("patience")
                    .isLessThan(Duration.ofSeconds(60).toNanos());
            LockSupport.parkNanos(1_000_000);
        }
    }
}
