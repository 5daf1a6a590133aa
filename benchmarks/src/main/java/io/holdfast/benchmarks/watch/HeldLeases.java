package io.holdfast.benchmarks.watch;

import com.sun.management.OperatingSystemMXBean;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.redis.RedisLockBackend;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import reactor.core.publisher.Flux;

/** Measures the cost of many leases of 30 s that one client holds and renews. */
final class HeldLeases {

    private static final int AT_ONCE = 512;

    /** The warm-up renews leases every two seconds: a hundred thousand leases of 30 s give the compiler too few renewals in its time. */
    private static final int WARM_UP_LEASES = 60_000;

    private static final Duration WARM_UP_LEASE = Duration.ofSeconds(6);
    private static final Duration ACQUIRE_LIMIT = Duration.ofMinutes(5);
    private static final Duration RELEASE_LIMIT = Duration.ofMinutes(5);
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private HeldLeases() {}

    /** Renewals are a third of a lease apart, so a multiple of ten seconds sees whole rounds of them. */
    static Observation watch(Addresses addresses, int count, int warmUpSeconds, int seconds) {
        RedisClient inspector = RedisClient.create();
        LockClient client = LockClient.create(RedisLockBackend.create(RedisURI.create(addresses.redis())));
        try (StatefulRedisConnection<String, String> connection =
                inspector.connect(RedisURI.create(addresses.redis()))) {
            return watch(client, connection.sync(), count, warmUpSeconds, seconds);
        } finally {
            Object unused = client.close().block(RELEASE_LIMIT);
            inspector.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }

    private static Observation watch(
            LockClient client, RedisCommands<String, String> redis, int count, int warmUpSeconds, int seconds) {
        LockOptions brief = LockOptions.builder().leaseDuration(WARM_UP_LEASE).build();
        List<LockLease> warmUp =
                acquire(number -> client.lock("warm-up/" + number).with(brief), WARM_UP_LEASES);
        Pause.seconds(warmUpSeconds);
        release(warmUp);
        long emptyHeap = usedHeap();
        int fewThreads = THREADS.getThreadCount();
        long begin = System.nanoTime();
        List<LockLease> leases = acquire(number -> client.lock("cart/" + number), count);
        double acquireSeconds = (System.nanoTime() - begin) / 1e9;
        long heap = usedHeap() - emptyHeap;

        // Does not measure the first renewals.
        Pause.seconds(warmUpSeconds);
        Map<String, Double> values = new TreeMap<>(measured(redis, seconds));
        values.put("heap bytes/lease", (double) heap / count);
        values.put("threads more", (double) THREADS.getThreadCount() - fewThreads);
        values.put("acquired/s", count / acquireSeconds);
        values.put("lost", (double) leases.stream().filter(it -> !it.isValid()).count());
        release(leases);
        return new Observation("HeldLeases", Map.of("leases", Integer.toString(count)), values);
    }

    /** Measures a time with renewals only. */
    private static Map<String, Double> measured(RedisCommands<String, String> redis, int seconds) {
        long commands = evalshas(redis);
        long serverMicros = evalshaMicros(redis);
        long cpu = SYSTEM.getProcessCpuTime();
        long since = System.nanoTime();
        Pause.seconds(seconds);
        double elapsed = (System.nanoTime() - since) / 1e9;
        return Map.of(
                "cores", (SYSTEM.getProcessCpuTime() - cpu) / 1e9 / elapsed,
                "commands/s", (evalshas(redis) - commands) / elapsed,
                "cores of the server", (evalshaMicros(redis) - serverMicros) / 1e6 / elapsed);
    }

    private static List<LockLease> acquire(IntFunction<ReactiveLock> lock, int count) {
        return Objects.requireNonNull(Flux.range(0, count)
                .flatMap(number -> lock.apply(number).acquire(), AT_ONCE)
                .collectList()
                .block(ACQUIRE_LIMIT));
    }

    private static void release(List<LockLease> leases) {
        Object unused = Flux.fromIterable(leases)
                .flatMap(LockLease::release, AT_ONCE)
                .then()
                .block(RELEASE_LIMIT);
    }

    private static long evalshas(RedisCommands<String, String> redis) {
        return stat(redis, "calls");
    }

    private static long evalshaMicros(RedisCommands<String, String> redis) {
        return stat(redis, "usec");
    }

    private static long stat(RedisCommands<String, String> redis, String field) {
        Matcher line =
                Pattern.compile("cmdstat_evalsha:.*?" + field + "=(\\d+)").matcher(redis.info("commandstats"));
        return line.find() ? Long.parseLong(line.group(1)) : 0;
    }

    /** The lowest of several readings, so that messages on their way between driver and engine do not count. */
    private static long usedHeap() {
        Runtime runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            System.gc();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
            Pause.millis(100);
        }
        return least;
    }
}
