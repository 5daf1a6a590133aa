package io.holdfast.benchmarks;

import static java.util.Objects.requireNonNull;

import io.holdfast.benchmarks.load.Load;
import io.holdfast.benchmarks.load.MasterFaults;
import io.holdfast.benchmarks.load.MasterFaults.Health;
import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.benchmarks.peer.QuorumPeer;
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

/** Acquires and releases uncontended locks at five masters, with the given number in flight at once. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
public class RedlockUncontended {

    private static final int CYCLES = 50;

    /** After this many cycles a client has connected to all reachable masters. */
    private static final int CONNECTED = 100;

    @Param
    QuorumPeer peer = QuorumPeer.HOLDFAST;

    @Param({"1", "64"})
    int inFlight = 1;

    @Param
    Health masters = Health.HEALTHY;

    private @Nullable Load load;
    private @Nullable MasterFaults faults;

    @Setup(Level.Trial)
    public void start() {
        MasterFaults five = new MasterFaults(masters, Addresses.given());
        Load cycles = Load.distinctWarm(peer.open(five.masters()), inFlight);
        cycles.restart();
        cycles.await(CONNECTED);
        five.begin();
        faults = five;
        load = cycles;
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
        requireNonNull(faults).end();
        requireNonNull(load).close();
        requireNonNull(faults).close();
    }
}
