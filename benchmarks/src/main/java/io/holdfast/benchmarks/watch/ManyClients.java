package io.holdfast.benchmarks.watch;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.redis.RedisLockBackend;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Measures the cost of commands at the server when each arrives alone on its connection. The clients of this process share threads, but each has its own
 * connections. The simulation of ten thousand clients starts from these figures.
 */
final class ManyClients {

    /** The kinds of load. */
    enum Load {
        /** Each client acquires and releases a lock of its own once a second. */
        CYCLES,
        /** Each client holds leases and renews them. */
        HELD,
        /** Each client waits for one lock, which another client holds. */
        WAITING
    }

    /**
     * A client renews in each third of that, and each waiter sends an attempt as often. With a lease of 30 s the server is idle for most of the time, and each
     * command pays for its waking up. A server with ten thousand clients does not sleep.
     */
    private static final Duration LEASE = Duration.ofSeconds(3);

    private static final LockOptions BRIEF =
            LockOptions.builder().leaseDuration(LEASE).build();

    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final int AT_ONCE = 64;
    private static final Pattern USED = Pattern.compile("used_cpu_(?:user|sys):([0-9.]+)");
    private static final Pattern CALLS = Pattern.compile("cmdstat_evalsha:calls=(\\d+)");
    private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final List<LockClient> clients;
    private final Load load;
    private final int leases;
    private final Histogram acquireTimes = new ConcurrentHistogram(LONGEST_NANOS, 3);
    private final Collection<Throwable> failures = new ConcurrentLinkedQueue<>();

    private ManyClients(List<LockClient> clients, Load load, int leases) {
        this.clients = clients;
        this.load = load;
        this.leases = leases;
    }

    /** Measures for the given number of seconds. */
    static Observation watch(Addresses addresses, Load load, int count, int leases, int warmUpSeconds, int seconds) {
        RedisURI uri = RedisURI.create(addresses.redis());
        ClientResources shared = DefaultClientResources.create();
        List<LockClient> clients = IntStream.range(0, count)
                .mapToObj(it -> LockClient.create(
                        RedisLockBackend.builder(uri).resources(shared).build()))
                .toList();
        RedisClient observer = RedisClient.create();
        try (StatefulRedisConnection<String, String> connection = observer.connect(uri)) {
            return new ManyClients(clients, load, leases).measured(connection.sync(), warmUpSeconds, seconds);
        } finally {
            Object unused = Flux.fromIterable(clients)
                    .flatMap(LockClient::close, AT_ONCE)
                    .then()
                    .block(LIMIT);
            observer.shutdown(0, 2, TimeUnit.SECONDS);
            shared.shutdown(0, 2, TimeUnit.SECONDS).awaitUninterruptibly();
        }
    }

    private Observation measured(RedisCommands<String, String> redis, int warmUpSeconds, int seconds) {
        Object unused = Flux.fromIterable(clients)
                .flatMap(LockClient::ping, AT_ONCE)
                .then()
                .block(LIMIT);
        Disposable running = start();
        Pause.seconds(warmUpSeconds);
        acquireTimes.reset();
        long commands = number(CALLS, redis.info("commandstats"));
        double cpu = cpuSeconds(redis);
        long begin = System.nanoTime();
        Pause.seconds(seconds);
        double elapsed = (System.nanoTime() - begin) / 1e9;
        double used = cpuSeconds(redis) - cpu;
        long sent = number(CALLS, redis.info("commandstats")) - commands;
        Map<String, Double> values = new TreeMap<>();
        values.put("commands/s", sent / elapsed);
        values.put("cores of the server", used / elapsed);
        values.put("server CPU µs/command", used * 1e6 / sent);
        if (load == Load.HELD) {
            double renewed = clients.size() * leases * 3.0 / LEASE.toSeconds();
            values.put("leases/command", renewed / (sent / elapsed));
        }
        if (load == Load.CYCLES) {
            values.put("acquire p50 ms", acquireTimes.getValueAtPercentile(50) / 1e6);
            values.put("acquire p99 ms", acquireTimes.getValueAtPercentile(99) / 1e6);
        }
        running.dispose();
        if (!failures.isEmpty()) {
            throw new IllegalStateException(
                    "%d failures".formatted(failures.size()),
                    failures.iterator().next());
        }
        return new Observation(
                "ManyClients",
                Map.of(
                        "load", load.name(),
                        "clients", Integer.toString(clients.size()),
                        "leases", Integer.toString(leases)),
                values);
    }

    private Disposable start() {
        return switch (load) {
            case CYCLES -> cycles();
            case HELD -> hold();
            case WAITING -> await();
        };
    }

    /** Starts the cycles of one client after the other, so that each client starts one in a second. */
    private Disposable cycles() {
        return Flux.interval(Duration.ofSeconds(1).dividedBy(clients.size()))
                .onBackpressureBuffer()
                .flatMap(tick -> cycle((int) (tick % clients.size())), clients.size())
                .subscribe(it -> {}, failures::add);
    }

    private Mono<Void> cycle(int number) {
        return Mono.defer(() -> {
            long begin = System.nanoTime();
            return clients.get(number).lock("cart/" + number).withLock(lease -> {
                acquireTimes.recordValue(Math.min(LONGEST_NANOS, System.nanoTime() - begin));
                return Mono.empty();
            });
        });
    }

    private Disposable hold() {
        List<LockLease> held = new ArrayList<>();
        for (int number = 0; number < clients.size(); number++) {
            LockClient client = clients.get(number);
            String prefix = "cart/" + number + "/";
            held.addAll(Flux.range(0, leases)
                    .flatMap(it -> client.lock(prefix + it).with(BRIEF).acquire(), AT_ONCE)
                    .collectList()
                    .blockOptional(LIMIT)
                    .orElseThrow());
        }
        return Flux.fromIterable(held)
                .flatMap(LockLease::onLoss, held.size())
                .subscribe(reason -> failures.add(new IllegalStateException("a lease was lost: " + reason)));
    }

    private Disposable await() {
        Disposable holder = clients.get(0).lock("sale").withLock(Mono.never()).subscribe(it -> {}, failures::add);
        Disposable waiters = Flux.fromIterable(clients.subList(1, clients.size()))
                .flatMap(client -> client.lock("sale").with(BRIEF).acquire(), clients.size())
                .subscribe(it -> failures.add(new IllegalStateException("a waiter was served: " + it)), failures::add);
        return Disposables.composite(waiters, holder);
    }

    private static double cpuSeconds(RedisCommands<String, String> redis) {
        return USED.matcher(redis.info("cpu"))
                .results()
                .mapToDouble(it -> Double.parseDouble(it.group(1)))
                .sum();
    }

    private static long number(Pattern pattern, String text) {
        Matcher found = pattern.matcher(text);
        return found.find() ? Long.parseLong(found.group(1)) : 0;
    }
}
