package io.holdfast.benchmarks;

import static java.util.Objects.requireNonNull;

import io.holdfast.benchmarks.load.Load;
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

/** One contended lock at one ZooKeeper: counts its hand-offs. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
public class ZooKeeperContended {

    private static final int CYCLES = 20;

    /** The peers without the raw one, which cannot wait. */
    @Param({"HOLDFAST", "CURATOR", "VERTX"})
    ZooKeeperPeer peer = ZooKeeperPeer.HOLDFAST;

    @Param({"10", "100"})
    int waiters = 10;

    @Param({"1", "2"})
    int processes = 1;

    private @Nullable Load load;

    @Setup(Level.Trial)
    public void start() {
        load = Load.contended(peer, waiters, processes);
    }

    @Setup(Level.Iteration)
    public void restart() {
        requireNonNull(load).restart();
    }

    @Benchmark
    @OperationsPerInvocation(CYCLES)
    public void handOff() {
        requireNonNull(load).await(CYCLES);
    }

    @TearDown(Level.Trial)
    public void stop() {
        requireNonNull(load).close();
    }
}
