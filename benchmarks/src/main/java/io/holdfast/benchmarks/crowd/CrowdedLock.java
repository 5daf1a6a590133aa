package io.holdfast.benchmarks.crowd;

import com.sun.management.OperatingSystemMXBean;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.ReactiveLock;
import io.holdfast.benchmarks.ServerCpu;
import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.benchmarks.report.Sample;
import io.holdfast.benchmarks.watch.Observation;
import io.holdfast.benchmarks.watch.Pause;
import io.holdfast.redis.RedisLockBackend;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Measures one lock that many want, with each {@link Trouble} and without, in turns in one process. The clients share threads, and each
 * has its own connection: for the server they are as many processes.
 */
public final class CrowdedLock implements AutoCloseable {

    /** The median of the waits. */
    public static final String P50 = "wait p50 ms";

    /** One of a hundred waits takes longer. */
    public static final String P99 = "wait p99 ms";

    /** The same of the client that waits longest. */
    public static final String WORST_P99 = "worst client's p99 ms";

    /** Flows that gave up. */
    public static final String GIVEN_UP = "given up/s";

    /** Flows that a full queue refused. */
    public static final String REFUSED = "refused/s";

    private static final int HUNG = 50;

    /** How long a claim waits behind those of a process that hangs. */
    public static final String BEHIND_HUNG = "behind %d hung waiters: ms until served".formatted(HUNG);

    private static final int FLOWS = 100;
    private static final int CLIENTS = 20;
    private static final int DEAD = 3_000;

    /** Places that are missing in a full queue: flows beside the holders, less these. */
    private static final int MISSING = 20;

    private static final int MOST_HOLDERS = 4;
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Duration SERVED_LIMIT = Duration.ofMinutes(1);
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private final Addresses addresses;
    private final Kind kind;
    private final ClientResources resources = DefaultClientResources.create();
    private final ServerCpu server;
    private final List<LockClient> clients;
    private final List<LockClient> bounded;
    private int names;

    /**
     * One measurement.
     *
     * @param clientMicros CPU of this process for each served cycle
     * @param worstP99 of the client that waits longest
     */
    private record Turn(
            double served,
            double gaveUp,
            double refused,
            double serverMicros,
            double clientMicros,
            double p50,
            double p99,
            double worstP99) {}

    private CrowdedLock(Addresses addresses, Kind kind) {
        this.addresses = addresses;
        this.kind = kind;
        server = ServerCpu.at(addresses.redis());
        clients = clients(CLIENTS, null);
        bounded = clients(2, FLOWS - MOST_HOLDERS - MISSING);
    }

    private List<LockClient> clients(int count, @Nullable Integer maxWaiters) {
        return IntStream.range(0, count)
                .mapToObj(it -> RedisLockBackend.builder(RedisURI.create(addresses.redis()))
                        .resources(resources))
                .map(it -> maxWaiters == null ? it : it.maxWaiters(maxWaiters))
                .map(it -> LockClient.create(it.build()))
                .toList();
    }

    /**
     * Measures each trouble in each of some rounds, after a warm-up. The observation has the medians.
     *
     * @param seconds how long each of them is measured
     */
    public static Observation watch(Addresses addresses, Kind kind, int warmUpSeconds, int rounds, int seconds) {
        try (CrowdedLock lock = new CrowdedLock(addresses, kind)) {
            return lock.measured(warmUpSeconds, rounds, seconds);
        }
    }

    private Observation measured(int warmUpSeconds, int rounds, int seconds) {
        Turn usual = turn(Trouble.NONE, null, warmUpSeconds * 1000L, 1000);
        Map<Trouble, List<Turn>> turns = new EnumMap<>(Trouble.class);
        List<Double> hung = new ArrayList<>();
        for (int round = 0; round <= rounds; round++) {
            for (Trouble trouble : Trouble.values()) {
                Turn turn = turn(trouble, usual, 500, round == 0 ? 1000 : seconds * 1000L);
                if (trouble == Trouble.NONE) {
                    usual = turn;
                }
                if (round > 0) { // the round before warms up
                    turns.computeIfAbsent(trouble, it -> new ArrayList<>()).add(turn);
                }
            }
            if (round > 0) {
                hung.add(behindHung());
            }
        }
        Map<String, Double> values = new TreeMap<>();
        turns.forEach((trouble, measured) -> add(values, trouble, measured));
        values.put(BEHIND_HUNG, median(hung));
        return new Observation("CrowdedLock", Map.of("kind", kind.name()), values);
    }

    private static void add(Map<String, Double> values, Trouble trouble, List<Turn> turns) {
        values.put(metric(trouble, Sample.THROUGHPUT), median(turns, Turn::served));
        values.put(metric(trouble, Sample.SERVER_CPU), median(turns, Turn::serverMicros));
        values.put(metric(trouble, Sample.CLIENT_CPU), median(turns, Turn::clientMicros));
        values.put(metric(trouble, P50), median(turns, Turn::p50));
        values.put(metric(trouble, P99), median(turns, Turn::p99));
        values.put(metric(trouble, WORST_P99), median(turns, Turn::worstP99));
        if (trouble == Trouble.GIVE_UP) {
            values.put(metric(trouble, GIVEN_UP), median(turns, Turn::gaveUp));
        }
        if (trouble == Trouble.REFUSED) {
            values.put(metric(trouble, REFUSED), median(turns, Turn::refused));
        }
    }

    /** Returns the name of a number that was measured with a trouble. */
    public static String metric(Trouble trouble, String what) {
        return trouble.title() + ": " + what;
    }

    private static double median(List<Turn> turns, Function<Turn, Double> value) {
        return median(turns.stream().map(value).toList());
    }

    private static double median(List<Double> values) {
        return values.stream().sorted(Comparator.naturalOrder()).toList().get(values.size() / 2);
    }

    private Turn turn(Trouble trouble, @Nullable Turn usual, long rampMillis, long millis) {
        String name = "crowd/%s/%d".formatted(kind, names++);
        if (trouble == Trouble.DEAD) {
            LockLease held = acquired(kind.whole(clients.get(0), name));
            try (VanishingWaiters dead = VanishingWaiters.start(addresses, kind, name, DEAD)) {
                dead.kill();
            }
            released(held);
        }
        try (Crowd crowd = crowd(trouble, usual, name)) {
            Pause.millis(rampMillis);
            return measured(crowd, millis);
        }
    }

    private Crowd crowd(Trouble trouble, @Nullable Turn usual, String name) {
        List<ReactiveLock> two = Crowd.locks(clients.subList(0, 2), kind, name);
        int flows = FLOWS / 2;
        return switch (trouble) {
            case NONE, DEAD -> Crowd.closed(two, flows, Mono.empty(), null);
            case GIVE_UP -> Crowd.closed(two, flows, Mono.empty(), patience(usual));
            case REFUSED -> Crowd.closed(Crowd.locks(bounded, kind, name), flows, Mono.empty(), null);
            case HOLD_1 ->
                Crowd.closed(two, flows, Mono.delay(Duration.ofMillis(1)).then(), null);
            case HOLD_20 ->
                Crowd.closed(two, flows, Mono.delay(Duration.ofMillis(20)).then(), null);
            case TWENTY_CLIENTS -> Crowd.closed(Crowd.locks(clients, kind, name), FLOWS / CLIENTS, Mono.empty(), null);
            case BY_A_CLOCK -> Crowd.open(Crowd.locks(clients, kind, name), (int) (served(usual) / 2), Mono.empty());
        };
    }

    private static double served(@Nullable Turn usual) {
        return usual == null ? 1_000 : usual.served();
    }

    /** Returns half of the usual wait, at least a millisecond. */
    private static Duration patience(@Nullable Turn usual) {
        double millis = usual == null ? 1 : Math.max(1, usual.p50() / 2);
        return Duration.ofNanos((long) (millis * 1e6));
    }

    private Turn measured(Crowd crowd, long millis) {
        crowd.restart();
        long served = crowd.served.sum();
        long gaveUp = crowd.gaveUp.sum();
        long refused = crowd.refused.sum();
        long serverCpu = server.nanos();
        long clientCpu = SYSTEM.getProcessCpuTime();
        long begin = System.nanoTime();
        Pause.millis(millis);
        crowd.requireNoFailure();
        double seconds = (System.nanoTime() - begin) / 1e9;
        double cycles = Math.max(1, crowd.served.sum() - served);
        Histogram waits = crowd.all();
        return new Turn(
                cycles / seconds,
                (crowd.gaveUp.sum() - gaveUp) / seconds,
                (crowd.refused.sum() - refused) / seconds,
                (server.nanos() - serverCpu) / 1e3 / cycles,
                (SYSTEM.getProcessCpuTime() - clientCpu) / 1e3 / cycles,
                waits.getValueAtPercentile(50) / 1e6,
                waits.getValueAtPercentile(99) / 1e6,
                crowd.each().stream()
                        .mapToDouble(it -> it.getValueAtPercentile(99) / 1e6)
                        .max()
                        .orElse(0));
    }

    /** Returns how many milliseconds a claim waits behind those of a process that hangs, from the holder's release on. */
    private double behindHung() {
        String name = "crowd/%s/%d".formatted(kind, names++);
        LockLease held = acquired(kind.whole(clients.get(0), name));
        try (VanishingWaiters hung = VanishingWaiters.start(addresses, kind, name, HUNG)) {
            hung.freeze();
            Mono<LockLease> next = kind.lock(clients.get(1), name).acquire().cache();
            var unused = next.subscribe(lease -> {}, error -> {});
            Pause.millis(200); // until it has its place
            long begin = System.nanoTime();
            released(held);
            LockLease lease = next.blockOptional(SERVED_LIMIT).orElseThrow();
            double millis = (System.nanoTime() - begin) / 1e6;
            released(lease);
            return millis;
        }
    }

    private static LockLease acquired(ReactiveLock lock) {
        return lock.acquire().blockOptional(LIMIT).orElseThrow();
    }

    private static void released(LockLease lease) {
        Object unused = lease.release().block(LIMIT);
    }

    @Override
    public void close() {
        Object unused = Flux.fromIterable(clients)
                .concatWith(Flux.fromIterable(bounded))
                .flatMap(LockClient::close)
                .then()
                .block(LIMIT);
        server.close();
        boolean isEnded = resources.shutdown().awaitUninterruptibly(LIMIT.toMillis());
        assert isEnded;
    }
}
