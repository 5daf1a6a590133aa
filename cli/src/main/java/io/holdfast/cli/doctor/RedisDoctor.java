package io.holdfast.cli.doctor;

import static io.holdfast.cli.doctor.RedisMaster.LIFE;

import io.holdfast.spi.LockBackend;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.TrackingArgs;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.reactive.RedisPubSubReactiveCommands;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Checks a Redis server, the master behind sentinels, each master of a cluster, or each master of a Redlock. */
public final class RedisDoctor implements Doctor {

    /** What is at the addresses. */
    public enum Kind {
        /** One server, or the master behind sentinels. */
        SINGLE,
        /** A cluster. */
        CLUSTER,
        /** Independent masters. */
        REDLOCK
    }

    private static final int SPREAD = 16;
    private static final int LEAST_OUTPUT_BUFFER = 1 << 20;
    private static final Pattern OUTPUT_BUFFER = Pattern.compile("pubsub (\\d{1,15}) (\\d+) (\\d+)");
    static final String TRY_COMMANDS = Check.file("commands.lua");

    private final List<RedisURI> addresses;
    private final Kind kind;
    private final String keyPrefix;
    private final Supplier<LockBackend> backends;
    private final Questions server;
    private final RedisClient client = RedisClient.create();
    private final String name = "doctor-" + UUID.randomUUID();
    private final List<RedisMaster> masters = new CopyOnWriteArrayList<>();

    /**
     * Connects with the first check.
     *
     * @param addresses the server, seeds of the cluster, or all masters
     * @param kind what is at the addresses
     * @param keyPrefix where the keys of the checks are
     * @param backends makes back ends for a lock with the same addresses and prefix
     * @param patience the longest time for the answers of one check; some may take a multiple of it
     */
    public RedisDoctor(
            List<RedisURI> addresses, Kind kind, String keyPrefix, Supplier<LockBackend> backends, Duration patience) {
        this.addresses = addresses;
        this.kind = kind;
        this.keyPrefix = keyPrefix;
        this.backends = backends;
        server = new Questions("redis", patience);
        for (RedisURI address : addresses) { // nothing else uses them
            address.setTimeout(patience);
            address.setLibraryName(""); // one command less that a proxy may not know
            address.setLibraryVersion("");
        }
    }

    @Override
    public Flux<Finding> examine() {
        return connect().concatWith(Flux.defer(() -> masters.isEmpty() ? Flux.empty() : checks()));
    }

    private Flux<Finding> connect() {
        return switch (kind) {
            case SINGLE -> connected(addresses.get(0), name).concatWith(sentinels(addresses.get(0)));
            case CLUSTER -> cluster();
            case REDLOCK ->
                Flux.fromIterable(addresses)
                        .concatMap(address -> connected(address, name))
                        .concatWith(Mono.fromSupplier(() -> server.finding(
                                "masters",
                                Answer.is(
                                        masters.size() == addresses.size(),
                                        "%d of %d can be reached".formatted(masters.size(), addresses.size())))));
        };
    }

    /** Without RESP3, the other checks are made with RESP2. */
    private Flux<Finding> connected(RedisURI address, String tag) {
        return open(address, ProtocolVersion.RESP3)
                .map(link -> connected(address, tag, link, Answer.works("protocol 3")))
                .onErrorResume(refused -> open(address, ProtocolVersion.RESP2)
                        .map(link -> connected(address, tag, link, Answer.fails(Questions.text(refused))))
                        .onErrorResume(also -> explained(refused).map(List::of)))
                .flatMapIterable(findings -> findings);
    }

    private List<Finding> connected(
            RedisURI address, String tag, StatefulRedisPubSubConnection<String, String> link, Answer resp3) {
        String at = address.getSentinels().isEmpty()
                ? address.getHost() + ":" + address.getPort()
                : "master '%s' of the sentinels".formatted(address.getSentinelMasterId());
        masters.add(new RedisMaster(at, keyPrefix, tag, link));
        return List.of(server.finding("connection", Answer.works(at)), server.finding("resp3", resp3));
    }

    private Mono<StatefulRedisPubSubConnection<String, String>> open(RedisURI address, ProtocolVersion version) {
        return Mono.fromCompletionStage(() -> {
                    client.setOptions(ClientOptions.builder()
                            .protocolVersion(version)
                            .autoReconnect(false)
                            .build());
                    return client.connectPubSubAsync(StringCodec.UTF8, address);
                })
                .timeout(server.patience().multipliedBy(2));
    }

    /** The back end explains best why it cannot connect. */
    private Mono<Finding> explained(Throwable error) {
        return Mono.usingWhen(Mono.fromSupplier(backends), LockBackend::ping, LockBackend::close)
                .timeout(server.patience().multipliedBy(2))
                .thenReturn(error)
                .onErrorResume(Mono::just)
                .map(why -> server.finding("connection", Answer.fails(Questions.text(why))));
    }

    private Flux<Finding> sentinels(RedisURI address) {
        Mono<Answer> count = Mono.usingWhen(
                Mono.fromFuture(() -> client.connectSentinelAsync(StringCodec.UTF8, address)),
                link -> link.reactive().master(address.getSentinelMasterId()).map(master -> {
                    int sentinels = 1 + Integer.parseInt(master.getOrDefault("num-other-sentinels", "0"));
                    return Answer.is(
                            sentinels >= 3,
                            "%d sentinels, quorum %s, %s replicas"
                                    .formatted(sentinels, master.get("quorum"), master.get("num-slaves")));
                }),
                link -> Mono.fromFuture(link.closeAsync()));
        return address.getSentinels().isEmpty()
                ? Flux.empty()
                : server.ask("sentinels", count).flux();
    }

    private Flux<Finding> cluster() {
        return Mono.firstWithValue(addresses.stream().map(this::owners).toList())
                .flatMapMany(findings -> findings)
                .onErrorResume(error -> explained(error).flux());
    }

    /** Asks this address for the masters of the cluster, and connects to each. */
    private Mono<Flux<Finding>> owners(RedisURI seed) {
        return Mono.usingWhen(
                open(seed, ProtocolVersion.RESP3).onErrorResume(refused -> open(seed, ProtocolVersion.RESP2)),
                link -> link.reactive().clusterSlots().collectList().map(ranges -> owners(seed, ranges)),
                link -> Mono.fromFuture(link.closeAsync()));
    }

    private Flux<Finding> owners(RedisURI seed, List<Object> ranges) {
        Map<RedisURI, Long> firstSlots = new LinkedHashMap<>();
        long count = 0;
        for (Object range : ranges) {
            List<?> parts = (List<?>) range;
            List<?> master = (List<?>) parts.get(2);
            String host = String.valueOf(master.get(0));
            RedisURI address = RedisURI.builder(seed).build();
            address.setHost(host.isEmpty() || host.equals("null") ? seed.getHost() : host);
            address.setPort(((Long) master.get(1)).intValue());
            Long unused = firstSlots.putIfAbsent(address, (Long) parts.get(0));
            count += (Long) parts.get(1) - (Long) parts.get(0) + 1;
        }
        String found = "%d of %d slots, %d masters".formatted(count, SlotHash.SLOT_COUNT, firstSlots.size());
        return Flux.fromIterable(firstSlots.entrySet())
                .concatMap(master -> connected(master.getKey(), tag(master.getValue())))
                .startWith(server.finding("slots", Answer.is(count == SlotHash.SLOT_COUNT, found)));
    }

    /** Returns a text in this slot. */
    private String tag(long slot) {
        return Stream.iterate(0, i -> i + 1)
                .map(i -> name + i)
                .filter(it -> SlotHash.getSlot(it) == slot)
                .findFirst()
                .orElseThrow();
    }

    private Mono<Finding> each(String check, Function<RedisMaster, Mono<Answer>> question) {
        return each(check, 1, question);
    }

    /** Makes a check at each master. The worst result counts. */
    private Mono<Finding> each(String check, int times, Function<RedisMaster, Mono<Answer>> question) {
        return Flux.fromIterable(masters)
                .concatMap(master -> server.ask(check, times, question.apply(master)))
                .collectList()
                .map(all -> {
                    Finding worst = all.stream()
                            .max(Comparator.comparing(Finding::result))
                            .orElseThrow();
                    return all.stream().map(Finding::found).distinct().count() == 1
                            ? worst
                            : worst.withFound(IntStream.range(0, all.size())
                                    .mapToObj(i -> masters.get(i).server() + ": "
                                            + all.get(i).found())
                                    .collect(Collectors.joining("; ")));
                });
    }

    private Flux<Finding> checks() {
        boolean isCluster = kind == Kind.CLUSTER;
        return Flux.concat(
                each("version", master -> info(master).map(RedisDoctor::version)),
                each("writes", master -> master.set(master.key("a")).thenReturn(Answer.works("a key was written"))),
                each("scripts", RedisDoctor::scripts),
                each(
                        "script-load",
                        master -> master.commands()
                                .scriptLoad("return 'loaded'")
                                .thenReturn(Answer.works("it is allowed"))),
                each("commands", this::commands),
                isCluster ? Mono.empty() : each("other-keys", RedisDoctor::otherKeys),
                isCluster ? Mono.empty() : each("one-server", this::oneServer),
                each("eviction", master -> info(master).map(RedisDoctor::eviction)),
                each(
                        "replicas",
                        master -> master.set(master.key("a"))
                                .then(master.commands().waitForReplication(1, RedisMaster.SOON.toMillis() / 2))
                                .map(count ->
                                        Answer.is(count > 0, "%d replicas have confirmed a write".formatted(count)))),
                each("tracking", RedisDoctor::tracking),
                each(
                        "output-buffer",
                        master -> master.commands()
                                .configGet("client-output-buffer-limit")
                                .map(settings -> outputBuffer(settings.toString()))),
                each(
                        "clock",
                        master -> Questions.clock(master.commands()
                                .time()
                                .map(Long::parseLong)
                                .reduce((seconds, micros) -> seconds * 1_000_000 + micros))),
                each("latency", 2, master -> Questions.latency(master.commands().ping())),
                // With RESP2, the connection takes no other command from here on.
                each("messages", master -> message(master, "message", "publish", name, master.commands()::subscribe)),
                isCluster
                        ? each(
                                "sharded",
                                master -> message(
                                        master,
                                        "smessage",
                                        "spublish",
                                        "{" + master.tag() + "}",
                                        master.commands()::ssubscribe))
                        : Mono.empty(),
                kind == Kind.REDLOCK
                        ? server.ask("lock", LockCycle.TIMES, LockCycle.run(backends, name, server.patience()))
                        : each(
                                "lock",
                                LockCycle.TIMES,
                                master -> LockCycle.run(backends, master.tag(), server.patience())));
    }

    private static Mono<Map<String, String>> info(RedisMaster master) {
        return master.commands()
                .info()
                .map(text -> text.lines()
                        .map(line -> line.strip().split(":", 2))
                        .filter(field -> field.length == 2)
                        .collect(Collectors.toMap(field -> field[0], field -> field[1], (one, other) -> one)));
    }

    private static Answer version(Map<String, String> info) {
        String version = info.getOrDefault("redis_version", "");
        String[] parts = version.split("\\.", -1);
        if (parts.length < 2) {
            return Answer.unknown("INFO has no redis_version");
        }
        return Answer.is(
                100 * Integer.parseInt(parts[0]) + Integer.parseInt(parts[1]) >= 602,
                Stream.of("redis_version", "server_name", "valkey_version", "redis_mode", "server_mode", "role")
                        .map(it -> info.getOrDefault(it, ""))
                        .filter(it -> !it.isEmpty())
                        .collect(Collectors.joining(", ")));
    }

    private static Answer eviction(Map<String, String> info) {
        String policy = info.get("maxmemory_policy");
        return policy == null
                ? Answer.unknown("INFO does not have it")
                : Answer.is(policy.equals("noeviction"), policy);
    }

    private static Mono<Answer> scripts(RedisMaster master) {
        String script = "return 'here'";
        RedisPubSubReactiveCommands<String, String> commands = master.commands();
        return master.text(script, master.keys("a"))
                .then(commands.<String>evalsha(commands.digest(script), ScriptOutputType.VALUE, master.keys("a"))
                        .next())
                .map(answer -> Answer.is(answer.equals("here"), "both"));
    }

    private Mono<Answer> commands(RedisMaster master) {
        return master.text(TRY_COMMANDS, master.keys("h", "z", "s", "l"), keyPrefix + "client:" + name, LIFE)
                .map(it -> it.isEmpty() ? Answer.works("all of them") : Answer.fails("refused: " + it));
    }

    private static Mono<Answer> otherKeys(RedisMaster master) {
        String script = "redis.call('set', ARGV[2], 'x', 'px', ARGV[1]) return redis.call('get', ARGV[2])";
        return master.text(script, master.keys("a"), LIFE, master.key("b"))
                .map(answer -> Answer.is(answer.equals("x"), "a script used one"));
    }

    /** Writes keys one by one, and looks for all of them in one call. */
    private Mono<Answer> oneServer(RedisMaster master) {
        String[] keys = IntStream.range(0, SPREAD)
                .mapToObj(i -> keyPrefix + "{" + name + i + "}:a")
                .toArray(String[]::new);
        String count =
                "local found = 0 for _, key in ipairs(KEYS) do found = found + redis.call('exists', key) end return found";
        return Flux.fromArray(keys)
                .concatMap(master::set)
                .then(master.count(count, keys))
                .map(found -> Answer.is(found == SPREAD, "a call found %d of %d keys".formatted(found, SPREAD)))
                .onErrorResume(
                        error -> Questions.text(error).contains("CROSSSLOT"),
                        error -> Mono.just(Answer.works("calls of several locks are refused, so each lock has a call")))
                .delayUntil(found ->
                        Flux.fromArray(keys).concatMap(master.commands()::del).then());
    }

    private static Mono<Answer> tracking(RedisMaster master) {
        RedisPubSubReactiveCommands<String, String> commands = master.commands();
        Mono<String> written = master.set(master.key("a"));
        return master.pushed(
                "invalidate",
                commands.clientTracking(TrackingArgs.Builder.enabled().optin())
                        .then(written)
                        .then(commands.clientCaching(true))
                        .then(commands.get(master.key("a")))
                        .then(written),
                Answer.works("a change was pushed"),
                "no push came");
    }

    private static Answer outputBuffer(String settings) {
        Matcher limit = OUTPUT_BUFFER.matcher(settings);
        if (!limit.find()) {
            return Answer.unknown("CONFIG GET does not have it");
        }
        long bytes = Long.parseLong(limit.group(1));
        return Answer.is(bytes == 0 || bytes >= LEAST_OUTPUT_BUFFER, limit.group());
    }

    /** Publishes from a script to this same connection, as the scripts of locks do. */
    private Mono<Answer> message(
            RedisMaster master, String type, String publish, String end, Function<String, Mono<Void>> subscribe) {
        String channel = keyPrefix + "client:" + end;
        String script = "return redis.call('" + publish + "', ARGV[1], 'x')";
        return master.pushed(
                type,
                subscribe.apply(channel).then(master.count(script, master.keys("a"), channel)),
                Answer.works("a message came from a script"),
                "no message came");
    }

    /** Deletes the keys of the checks and of the lock. Those that are left after a failure end by themselves. */
    @Override
    public Mono<Void> close() {
        String keys = "a b h z s l mutex mutex:queue mutex:claims mutex:held mutex:gone mutex:interest mutex:aside";
        return Flux.fromIterable(masters)
                .flatMap(master -> master.commands()
                        .del(master.keys(keys.split(" ", -1)))
                        .timeout(RedisMaster.SOON)
                        .onErrorComplete())
                .then(Mono.fromFuture(() -> client.shutdownAsync(0, 1, TimeUnit.SECONDS)));
    }
}
