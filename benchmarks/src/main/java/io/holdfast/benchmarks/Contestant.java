package io.holdfast.benchmarks;

import io.holdfast.benchmarks.load.MasterFaults;
import io.holdfast.benchmarks.load.MasterFaults.Health;
import io.holdfast.benchmarks.load.Reading;
import io.holdfast.benchmarks.load.WorkerProcess;
import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.benchmarks.peer.PeerChoice;
import io.holdfast.benchmarks.report.Sample;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

/** One peer of a comparison, with its processes. It throws {@link IllegalStateException} when one of them fails. For one thread. */
final class Contestant implements AutoCloseable {

    /** The time in which the lanes start. A test that measures for a shorter time waits only for that time. */
    private static final Duration SETTLING = Duration.ofMillis(500);

    /** Idle servers use less of one core than this: some per cent for each of them. */
    private static final double IDLE = 0.05;

    private static final Duration LONGEST_CATCHING_UP = Duration.ofSeconds(30);

    private final Comparison comparison;
    private final Addresses addresses;
    private final ServerCpu server;
    private final List<WorkerProcess> workers = new ArrayList<>();

    Contestant(Comparison comparison, PeerChoice peer, Addresses addresses, ServerCpu server) {
        this.comparison = comparison;
        this.addresses = addresses;
        this.server = server;
        // A killed process may have left locks behind.
        String prefix = "bench-" + UUID.randomUUID() + "-";
        try {
            for (int i = 0; i < comparison.processes(); i++) {
                workers.add(WorkerProcess.start(peer, comparison.isOneLock(), prefix, addresses));
            }
        } catch (IllegalStateException e) {
            close();
            throw e;
        }
    }

    void warmUp(int lanes, Duration time) {
        start(lanes);
        LockSupport.parkNanos(time.toNanos());
        stop();
    }

    /** Returns the measurements by their names in reports. */
    Map<String, Double> measure(int lanes, Health masters, Duration time) {
        start(lanes);
        settle(time);
        if (masters == Health.HEALTHY) {
            return measure(time);
        }
        try (MasterFaults faults = new MasterFaults(masters, addresses)) {
            faults.begin();
            try {
                settle(time);
                return measure(time);
            } finally {
                faults.end();
                awaitIdleServers(time);
            }
        }
    }

    /**
     * Waits until the servers are idle. A master that hung finds thousands of requests in its connections, and clients send the releases that it missed.
     * The next measurement must not include that work.
     */
    private void awaitIdleServers(Duration time) {
        Duration window = time.compareTo(SETTLING) < 0 ? time : SETTLING;
        for (Duration left = LONGEST_CATCHING_UP; !left.isNegative(); left = left.minus(window)) {
            long before = server.nanos();
            LockSupport.parkNanos(window.toNanos());
            if (server.nanos() - before < IDLE * window.toNanos()) {
                return;
            }
        }
        throw new IllegalStateException("the servers were not idle within " + LONGEST_CATCHING_UP);
    }

    private static void settle(Duration time) {
        LockSupport.parkNanos(Math.min(SETTLING.toNanos(), time.toNanos()));
    }

    /** Measures running lanes, and stops them. */
    private Map<String, Double> measure(Duration time) {
        long serverBefore = server.nanos();
        List<Reading> before = readings();
        LockSupport.parkNanos(time.toNanos());
        List<Reading> after = readings();
        long serverNanos = server.nanos() - serverBefore;
        stop();
        List<Reading> used = new ArrayList<>();
        for (int i = 0; i < before.size(); i++) {
            used.add(after.get(i).since(before.get(i)));
        }
        return perCycle(used, serverNanos);
    }

    /** Adds up the clients and their cycles. */
    static Map<String, Double> perCycle(List<Reading> clients, long serverNanos) {
        double cycles = clients.stream().mapToLong(Reading::cycles).sum();
        if (cycles == 0) {
            throw new IllegalStateException("no cycle ended during the measurement");
        }
        Map<String, Double> values = new TreeMap<>();
        values.put(
                Sample.THROUGHPUT,
                clients.stream()
                        .mapToDouble(it -> it.cycles() * 1e9 / it.nanos())
                        .sum());
        values.put(Sample.ALLOCATION, clients.stream().mapToLong(Reading::bytes).sum() / cycles);
        double clientNanos = clients.stream().mapToLong(Reading::cpuNanos).sum();
        values.put(Sample.CLIENT_CPU, clientNanos / cycles / 1e3);
        values.put(Sample.SERVER_CPU, serverNanos / cycles / 1e3);
        values.put(
                Sample.SWITCHES, clients.stream().mapToLong(Reading::switches).sum() / cycles);
        values.put(
                Sample.LONGEST_CYCLE,
                clients.stream().mapToLong(it -> it.waits().cycleNanos()).max().orElseThrow() / 1e6);
        values.put(
                Sample.LONGEST_PAUSE,
                clients.stream().mapToLong(it -> it.waits().pauseNanos()).max().orElseThrow() / 1e6);
        if (clients.size() > 1) {
            LongSummaryStatistics ofEach =
                    clients.stream().mapToLong(Reading::cycles).summaryStatistics();
            values.put(Sample.LEAST_SHARE, (double) ofEach.getMin() / ofEach.getMax());
        }
        return values;
    }

    private void start(int lanes) {
        for (int i = 0; i < workers.size(); i++) {
            workers.get(i).startLanes(comparison.share(lanes, i));
        }
    }

    private void stop() {
        workers.forEach(WorkerProcess::stopLanes);
    }

    private List<Reading> readings() {
        return workers.stream().map(WorkerProcess::read).toList();
    }

    @Override
    public void close() {
        workers.forEach(WorkerProcess::close);
    }
}
