package io.holdfast.benchmarks;

import static java.util.Objects.requireNonNull;

import io.holdfast.benchmarks.load.Load;
import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.benchmarks.peer.FreshNames;
import io.holdfast.benchmarks.peer.ZooKeeperPeer;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Acquires and releases locks at one ZooKeeper whose names are used once, with the given number in flight at once. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
public class ZooKeeperFreshNames {

    private static final int CYCLES = 50;

    /** The peers without the raw one and Vert.x. */
    @Param({"HOLDFAST", "CURATOR"})
    ZooKeeperPeer peer = ZooKeeperPeer.HOLDFAST;

    @Param("64")
    int inFlight = 64;

    private @Nullable Load load;

    @Setup(Level.Trial)
    public void start() {
        load = Load.distinctWarm(new FreshNames(peer.open(Addresses.given())), inFlight);
    }

    @Setup(Level.Iteration)
    public void restart() {
        requireNonNull(load).restart();
    }

    @Benchmark
    @OperationsPerInvocation(CYCLES)
    public void cycle() {
        requireNonNull(load).await(CYCLES);
    }

    @TearDown(Level.Trial)
    public void stop() {
        requireNonNull(load).close();
    }
}
