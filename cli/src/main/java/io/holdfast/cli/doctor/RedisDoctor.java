package io.holdfast.cli.doctor;

import io.holdfast.spi.LockBackend;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.TrackingArgs;
import io.lettuce.core.api.push.PushListener;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.reactive.RedisPubSubReactiveCommands;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

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

    /** What the commands of the scripts write ends by itself, if nothing else removes it. */
    private static final long LIFE_MILLIS = 20_000;

    private static final String LIFE = Long.toString(LIFE_MILLIS);

    /** The longest time for a message, or for a confirmation. */
    private static final Duration SOON = Duration.ofSeconds(2);

    private static final int SPREAD = 16;
    private static final int LEAST_OUTPUT_BUFFER = 1 << 20;

    private static final Check CONNECTION =
            Check.needed("connection", "Nothing works.", "Check the address, the password, and that the server runs.");
    private static final Check RESP3 = Check.needed(
            "RESP3 (HELLO 3)",
            "Clients refuse the server: commands and messages share one connection.",
            "Upgrade to Redis 6.2 or newer, allow +hello, or connect without the proxy.");
    private static final Check VERSION = Check.needed(
            "version", "Older servers lack commands.", "Upgrade to Redis 6.2 or newer. The check needs +info.");
    private static final Check SENTINELS = Check.optional(
            "sentinels",
            "Too few sentinels cannot agree on a new master after a failure.",
            "Run three or more, on machines of their own.");
    private static final Check SLOTS =
            Check.needed("slots of the cluster", "Locks in slots without a master fail.", "Start the missing masters.");
    private static final Check MASTERS = Check.needed(
            "masters of the Redlock",
            "Redlock needs a majority of at least three masters.",
            "Start the missing masters.");
    private static final Check MASTER = Check.needed(
            "writes",
            "A replica grants no locks.",
            "Give the address of the master, that of the sentinels, or redis+cluster:// for a cluster.");
    private static final Check SCRIPTS = Check.needed(
            "scripts (EVALSHA, EVAL)", "Each operation of a lock is a script.", "Allow +evalsha and +eval.");
    private static final Check SCRIPT_LOAD = Check.optional(
            "SCRIPT LOAD",
            "The first call of each script takes two round trips more.",
            "Allow +script|load, if you can.");
    private static final Check COMMANDS = Check.needed(
            "commands in scripts",
            "Operations that use these commands fail.",
            "Allow the commands of docs/operate/redis.md, keys ~<prefix>* and channels &<prefix>*, or upgrade to 6.2.");
    private static final Check OTHER_KEYS = Check.needed(
            "keys that a call does not name",
            "Locks that have waiters fail: outside of a cluster, a call names the record of a lock only.",
            "Connect to the server itself, or as to a cluster (redis+cluster://), where a call names all keys.");
    private static final Check ONE_SERVER = Check.needed(
            "one server behind the address",
            "A cluster or a proxy spreads keys over servers, and parts of a call reach the wrong one.",
            "Connect to the servers: redis+cluster:// for a cluster, redis+redlock:// for masters of their own.");
    private static final Check MESSAGES = Check.needed(
            "messages on the connection of the commands",
            "Waiters get a lock by their next attempt only, up to 2 s late.",
            "Allow +subscribe, +publish, +pubsub|numsub and channels &<prefix>*, or connect without the proxy.");
    private static final Check SHARDED = Check.optional(
            "messages in a slot (SSUBSCRIBE)",
            "Each message of a hand-off goes to every server of the cluster.",
            "Upgrade to Redis 7.0 or newer, and allow +ssubscribe +spublish.");
    private static final Check EVICTION = Check.needed(
            "maxmemory-policy",
            "A full server may delete a held lock and grant it again.",
            "Set maxmemory-policy to noeviction. The check needs +info.");
    private static final Check WAIT = Check.optional(
            "replicas and WAIT",
            "confirmGrants cannot be used. A failover may lose the last grants.",
            "Add a replica and allow +wait, fence your data, or use Redlock or ZooKeeper.");
    private static final Check TRACKING = Check.optional(
            "CLIENT TRACKING",
            "lossByPush cannot be used: a holder learns of a deleted key by its next renewal.",
            "Allow +client|tracking +client|caching, if you want lossByPush.");
    private static final Check OUTPUT_BUFFER = Check.optional(
            "client-output-buffer-limit pubsub",
            "Below 1 MB, the server may close connections that have waiters.",
            "Set it to 32mb 8mb 60. The check needs +config|get, locks do not.");
    private static final Check CLOCK = Check.optional(
            "clock",
            "Tokens come from the server's clock, and in a cluster a lease ends by that of the master of its slot.",
            "Run a clock service on all machines.");
    private static final Check LATENCY = Check.optional(
            "latency",
            "Each request for a lock takes at least that long.",
            "Move the application and the server closer.");

    /** Tries each command that the scripts use, and returns the refused ones. */
    static final String TRY_COMMANDS = """
            local refused = {}
            local function try(...)
              local answer = redis.pcall(...)
              if type(answer) == 'table' and answer.err then refused[#refused + 1] = (...) .. ' (' .. answer.err .. ')' end
            end
            local h, z, s, l = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
            try('time') try('exists', h) try('del', h)
            try('hset', h, 'a', 1) try('pexpire', h, ARGV[2]) try('pttl', h) try('hget', h, 'a') try('hmget', h, 'a', 'b')
            try('hsetnx', h, 'b', 1) try('hlen', h) try('hrandfield', h) try('hdel', h, 'b')
            try('zadd', z, 1, 'a', 2, 'b') try('pexpire', z, ARGV[2]) try('zcard', z) try('zrange', z, 0, -1) try('zrank', z, 'a')
            try('zscore', z, 'a') try('zmscore', z, 'a', 'b') try('zrangebyscore', z, '-inf', '+inf') try('zrangebylex', z, '-', '+')
            try('zrandmember', z) try('zremrangebyrank', z, 5, 6) try('zremrangebyscore', z, 5, 6) try('zrem', z, 'b')
            try('set', s, 'v', 'px', ARGV[2]) try('get', s) try('setrange', s, 0, 'w')
            try('rpush', l, 'a', 'b') try('pexpire', l, ARGV[2]) try('ltrim', l, 0, 5) try('lpos', l, 'a') try('llen', l) try('lrange', l, 0, -1)
            try('publish', ARGV[1], 'x') try('pubsub', 'numsub', ARGV[1])
            redis.pcall('del', h, z, s, l)
            return table.concat(refused, ', ')
            """;

    private final List<RedisURI> addresses;
    private final Kind kind;
    private final String keyPrefix;
    private final Supplier<LockBackend> backends;
    private final RedisClient client = RedisClient.create();
    private final String name = "doctor-" + UUID.randomUUID();
    private final List<Master> masters = new CopyOnWriteArrayList<>();

    /** A connection to one master. Keys with the tag are in a slot of it. */
    private record Master(String server, String tag, StatefulRedisPubSubConnection<String, String> link) {

        RedisPubSubReactiveCommands<String, String> commands() {
            return link.reactive();
        }

        Mono<Long> count(String script, String[] keys, String... args) {
            return commands()
                    .<Long>eval(script, ScriptOutputType.INTEGER, keys, args)
                    .next();
        }

        Mono<String> text(String script, String[] keys, String... args) {
            return commands()
                    .<String>eval(script, ScriptOutputType.VALUE, keys, args)
                    .next();
        }
    }

    /**
     * Connects with the first check.
     *
     * @param addresses the server, seeds of the cluster, or all masters
     * @param kind what is at the addresses
     * @param keyPrefix where the keys of the checks are
     * @param backends makes back ends for a lock with the same addresses and prefix
     */
    public RedisDoctor(List<RedisURI> addresses, Kind kind, String keyPrefix, Supplier<LockBackend> backends) {
        this.addresses = addresses.stream().map(RedisDoctor::impatient).toList();
        this.kind = kind;
        this.keyPrefix = keyPrefix;
        this.backends = backends;
    }

    /** Changes the address, which nothing else uses. */
    private static RedisURI impatient(RedisURI address) {
        address.setTimeout(Check.PATIENCE);
        address.setLibraryName(""); // one command less that a proxy may not know
        address.setLibraryVersion("");
        return address;
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
                        .concatWith(Mono.fromSupplier(() -> MASTERS.is(
                                masters.size() == addresses.size(),
                                "%d of %d can be reached".formatted(masters.size(), addresses.size()))));
        };
    }

    /** Without RESP3, the other checks are made with RESP2. */
    private Flux<Finding> connected(RedisURI address, String tag) {
        return opened(address, tag, ProtocolVersion.RESP3)
                .map(found -> List.of(found, RESP3.works("protocol 3")))
                .onErrorResume(refused -> opened(address, tag, ProtocolVersion.RESP2)
                        .map(found -> List.of(found, RESP3.fails(Check.text(refused))))
                        .onErrorResume(also -> explained(refused).map(List::of)))
                .flatMapIterable(findings -> findings);
    }

    private Mono<Finding> opened(RedisURI address, String tag, ProtocolVersion version) {
        return open(address, version).map(link -> {
            String server = server(address);
            masters.add(new Master(server, tag, link));
            return CONNECTION.works(server);
        });
    }

    private Mono<StatefulRedisPubSubConnection<String, String>> open(RedisURI address, ProtocolVersion version) {
        return Mono.fromCompletionStage(() -> {
                    client.setOptions(ClientOptions.builder()
                            .protocolVersion(version)
                            .autoReconnect(false)
                            .socketOptions(SocketOptions.builder()
                                    .connectTimeout(Check.PATIENCE)
                                    .build())
                            .timeoutOptions(TimeoutOptions.enabled(Check.PATIENCE))
                            .build());
                    return client.connectPubSubAsync(StringCodec.UTF8, address);
                })
                .timeout(Check.PATIENCE.multipliedBy(2));
    }

    /** The back end explains best why it cannot connect. */
    private Mono<Finding> explained(Throwable error) {
        return Mono.usingWhen(Mono.fromSupplier(backends), LockBackend::ping, LockBackend::close)
                .timeout(Check.PATIENCE.multipliedBy(2))
                .thenReturn(CONNECTION.fails(Check.text(error)))
                .onErrorResume(why -> Mono.just(CONNECTION.fails(Check.text(why))));
    }

    private static String server(RedisURI address) {
        return address.getSentinels().isEmpty()
                ? address.getHost() + ":" + address.getPort()
                : "master '%s' of the sentinels".formatted(address.getSentinelMasterId());
    }

    private Flux<Finding> sentinels(RedisURI address) {
        return address.getSentinels().isEmpty()
                ? Flux.empty()
                : SENTINELS
                        .askIfAllowed(Mono.usingWhen(
                                Mono.fromFuture(() -> client.connectSentinelAsync(StringCodec.UTF8, address)),
                                link -> link.reactive()
                                        .master(address.getSentinelMasterId())
                                        .map(master -> {
                                            int count = 1
                                                    + Integer.parseInt(master.getOrDefault("num-other-sentinels", "0"));
                                            return SENTINELS.is(
                                                    count >= 3,
                                                    "%d sentinels, quorum %s, %s replicas"
                                                            .formatted(
                                                                    count,
                                                                    master.get("quorum"),
                                                                    master.get("num-slaves")));
                                        }),
                                link -> Mono.fromFuture(link.closeAsync())))
                        .flux();
    }

    /** What the first address that answers says of the cluster: ranges of slots with their servers. */
    private record SlotMap(RedisURI seed, List<Object> ranges) {}

    private Flux<Finding> cluster() {
        return Mono.firstWithValue(addresses.stream().map(this::slotMap).toList())
                .flatMapMany(this::masters)
                .onErrorResume(error -> explained(error).flux());
    }

    private Mono<SlotMap> slotMap(RedisURI seed) {
        return Mono.usingWhen(
                open(seed, ProtocolVersion.RESP3).onErrorResume(refused -> open(seed, ProtocolVersion.RESP2)),
                link -> link.reactive().clusterSlots().collectList().map(ranges -> new SlotMap(seed, ranges)),
                link -> Mono.fromFuture(link.closeAsync()));
    }

    private Flux<Finding> masters(SlotMap map) {
        Map<RedisURI, String> tags = new LinkedHashMap<>();
        long slots = 0;
        for (Object entry : map.ranges()) {
            List<?> range = (List<?>) entry;
            long first = (Long) range.get(0);
            slots += (Long) range.get(1) - first + 1;
            List<?> master = (List<?>) range.get(2);
            String host = String.valueOf(master.get(0));
            RedisURI address = RedisURI.builder(map.seed()).build();
            address.setHost(host.isEmpty() || host.equals("null") ? map.seed().getHost() : host);
            address.setPort(((Long) master.get(1)).intValue());
            String unused = tags.computeIfAbsent(address, it -> tag(first));
        }
        return Flux.fromIterable(tags.entrySet())
                .concatMap(master -> connected(master.getKey(), master.getValue()))
                .startWith(SLOTS.is(
                        slots == SlotHash.SLOT_COUNT,
                        "%d of %d slots, %d masters".formatted(slots, SlotHash.SLOT_COUNT, tags.size())));
    }

    /** Returns a text in this slot. */
    private String tag(long slot) {
        return IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> name + i)
                .filter(it -> SlotHash.getSlot(it) == slot)
                .findFirst()
                .orElseThrow();
    }

    /** Makes a check at each master. The worst result counts. */
    private Mono<Finding> each(Function<Master, Mono<Finding>> check) {
        return Flux.fromIterable(masters).concatMap(check).collectList().map(all -> {
            boolean isSame = all.stream().map(Finding::found).distinct().count() == 1;
            Finding worst =
                    all.stream().max(Comparator.comparing(Finding::result)).orElseThrow();
            return isSame
                    ? worst
                    : worst.withFound(IntStream.range(0, all.size())
                            .mapToObj(i ->
                                    masters.get(i).server() + ": " + all.get(i).found())
                            .collect(Collectors.joining("; ")));
        });
    }

    private Flux<Finding> checks() {
        boolean isCluster = kind == Kind.CLUSTER;
        return Flux.concat(
                each(this::version),
                each(this::writes),
                each(this::scripts),
                each(this::scriptLoad),
                each(this::commands),
                isCluster ? Mono.empty() : each(this::otherKeys),
                isCluster ? Mono.empty() : each(this::oneServer),
                each(this::eviction),
                each(this::replicas),
                each(this::tracking),
                each(this::outputBuffer),
                each(master ->
                        CLOCK.clock(master.commands().time().collectList().map(RedisDoctor::time))),
                each(master -> LATENCY.latency(master.commands().ping())),
                // With RESP2, the connection takes no other command from here on.
                each(this::messages),
                isCluster ? each(this::messagesInASlot) : Mono.empty(),
                kind == Kind.REDLOCK
                        ? LockCycle.run(backends, name)
                        : each(master -> LockCycle.run(backends, master.tag())));
    }

    private static Instant time(List<String> secondsAndMicros) {
        return Check.instant(
                Long.parseLong(secondsAndMicros.get(0)) * 1_000_000 + Long.parseLong(secondsAndMicros.get(1)));
    }

    private String[] keys(Master master, String... suffixes) {
        return Stream.of(suffixes).map(it -> key(master, it)).toArray(String[]::new);
    }

    private String key(Master master, String suffix) {
        return keyPrefix + "{" + master.tag() + "}:" + suffix;
    }

    private static String field(String info, String name) {
        return info.lines()
                .filter(line -> line.startsWith(name + ":"))
                .map(line -> line.substring(name.length() + 1).strip())
                .findFirst()
                .orElse("");
    }

    private Mono<Finding> version(Master master) {
        return VERSION.askIfAllowed(master.commands().info().map(info -> {
            String version = field(info, "redis_version");
            String[] parts = version.split("\\.", -1);
            if (parts.length < 2) {
                return VERSION.unknown("INFO has no redis_version");
            }
            int number = 100 * Integer.parseInt(parts[0]) + Integer.parseInt(parts[1]);
            String found = Stream.of("server_name", "valkey_version", "redis_mode", "server_mode", "role")
                    .map(it -> field(info, it))
                    .filter(it -> !it.isEmpty())
                    .collect(Collectors.joining(", ", version + ", ", ""));
            return VERSION.is(number >= 602, found);
        }));
    }

    private Mono<Finding> writes(Master master) {
        return MASTER.ask(written(master).thenReturn(MASTER.works("a key was written")));
    }

    private Mono<String> written(Master master) {
        return master.commands().set(key(master, "a"), "x", SetArgs.Builder.px(LIFE_MILLIS));
    }

    private Mono<Finding> scripts(Master master) {
        String script = "return 'here'";
        RedisPubSubReactiveCommands<String, String> commands = master.commands();
        return SCRIPTS.ask(master.text(script, keys(master, "a"))
                .then(commands.<String>evalsha(commands.digest(script), ScriptOutputType.VALUE, keys(master, "a"))
                        .next())
                .map(answer -> SCRIPTS.is(answer.equals("here"), "both")));
    }

    private Mono<Finding> scriptLoad(Master master) {
        return SCRIPT_LOAD.ask(
                master.commands().scriptLoad("return 'loaded'").thenReturn(SCRIPT_LOAD.works("it is allowed")));
    }

    private Mono<Finding> commands(Master master) {
        return COMMANDS.ask(
                master.text(TRY_COMMANDS, keys(master, "h", "z", "s", "l"), keyPrefix + "client:" + name, LIFE)
                        .map(refused -> COMMANDS.is(
                                refused.isEmpty(), refused.isEmpty() ? "all of them" : "refused: " + refused)));
    }

    private Mono<Finding> otherKeys(Master master) {
        String script = "redis.call('set', ARGV[2], 'x', 'px', ARGV[1]) return redis.call('get', ARGV[2])";
        return OTHER_KEYS.ask(master.text(script, keys(master, "a"), LIFE, key(master, "b"))
                .map(answer -> OTHER_KEYS.is(answer.equals("x"), "a script used one")));
    }

    /** Writes keys one by one, and looks for all of them in one call. */
    private Mono<Finding> oneServer(Master master) {
        List<String> keys = IntStream.range(0, SPREAD)
                .mapToObj(i -> keyPrefix + "{" + name + i + "}:a")
                .toList();
        String count =
                "local found = 0 for _, key in ipairs(KEYS) do found = found + redis.call('exists', key) end return found";
        return ONE_SERVER.ask(Flux.fromIterable(keys)
                .concatMap(key -> master.commands().set(key, "x", SetArgs.Builder.px(LIFE_MILLIS)))
                .then(master.count(count, keys.toArray(String[]::new))
                        .map(found ->
                                ONE_SERVER.is(found == SPREAD, "a call found %d of %d keys".formatted(found, SPREAD)))
                        .onErrorResume(
                                error -> Check.text(error).contains("CROSSSLOT"),
                                error -> Mono.just(ONE_SERVER.works(
                                        "calls of several locks are refused, so each lock has a call"))))
                .delayUntil(found -> Flux.fromIterable(keys)
                        .concatMap(key -> master.commands().del(key))
                        .then()));
    }

    private Mono<Finding> messages(Master master) {
        String channel = keyPrefix + "client:" + name;
        RedisPubSubReactiveCommands<String, String> commands = master.commands();
        return heard(MESSAGES, "publish", master, channel, commands.subscribe(channel), commands.unsubscribe(channel));
    }

    private Mono<Finding> messagesInASlot(Master master) {
        String channel = keyPrefix + "client:{" + master.tag() + "}";
        RedisPubSubReactiveCommands<String, String> commands = master.commands();
        return heard(
                SHARDED, "spublish", master, channel, commands.ssubscribe(channel), commands.sunsubscribe(channel));
    }

    /** Publishes from a script to this same connection, as the scripts of locks do. */
    private Mono<Finding> heard(
            Check check, String publish, Master master, String channel, Mono<Void> subscribe, Mono<Void> unsubscribe) {
        Sinks.One<Finding> heard = Sinks.one();
        RedisPubSubAdapter<String, String> listener = new RedisPubSubAdapter<>() {
            @Override
            public void message(String from, String text) {
                Sinks.EmitResult unused = heard.tryEmitValue(check.works("a message came from a script"));
            }

            @Override
            public void smessage(String from, String text) {
                message(from, text);
            }
        };
        String script = "return redis.call('" + publish + "', ARGV[1], 'x')";
        return check.ask(Mono.usingWhen(
                Mono.fromRunnable(() -> master.link().addListener(listener)).thenReturn(listener),
                on -> subscribe
                        .then(master.count(script, keys(master, "a"), channel))
                        .then(heard.asMono().timeout(SOON))
                        .onErrorMap(TimeoutException.class, silent -> new IllegalStateException("no message came")),
                on -> unsubscribe
                        .timeout(SOON)
                        .onErrorComplete()
                        .doFinally(end -> master.link().removeListener(listener))));
    }

    private Mono<Finding> eviction(Master master) {
        return EVICTION.askIfAllowed(master.commands().info().map(info -> {
            String policy = field(info, "maxmemory_policy");
            return policy.isEmpty()
                    ? EVICTION.unknown("INFO does not have it")
                    : EVICTION.is(policy.equals("noeviction"), policy);
        }));
    }

    private Mono<Finding> replicas(Master master) {
        return WAIT.ask(written(master)
                .then(master.commands().waitForReplication(1, SOON.toMillis() / 2))
                .map(count -> WAIT.is(count > 0, "%d replicas have confirmed a write".formatted(count))));
    }

    private Mono<Finding> tracking(Master master) {
        RedisPubSubReactiveCommands<String, String> commands = master.commands();
        Sinks.One<Finding> pushed = Sinks.one();
        PushListener listener = message -> {
            if (message.getType().equals("invalidate")) {
                Sinks.EmitResult unused = pushed.tryEmitValue(TRACKING.works("a change was pushed"));
            }
        };
        return TRACKING.ask(Mono.usingWhen(
                Mono.fromRunnable(() -> master.link().addListener(listener)).thenReturn(listener),
                on -> commands.clientTracking(TrackingArgs.Builder.enabled().optin())
                        .then(written(master))
                        .then(commands.clientCaching(true))
                        .then(commands.get(key(master, "a")))
                        .then(written(master))
                        .then(pushed.asMono().timeout(SOON))
                        .onErrorMap(TimeoutException.class, silent -> new IllegalStateException("no push came")),
                on -> commands.clientTracking(TrackingArgs.Builder.enabled(false))
                        .timeout(SOON)
                        .onErrorComplete()
                        .doFinally(end -> master.link().removeListener(listener))));
    }

    private Mono<Finding> outputBuffer(Master master) {
        return OUTPUT_BUFFER.askIfAllowed(master.commands()
                .configGet("client-output-buffer-limit")
                .map(settings -> {
                    Matcher limit =
                            Pattern.compile("pubsub (\\d{1,15}) (\\d+) (\\d+)").matcher(settings.toString());
                    if (!limit.find()) {
                        return OUTPUT_BUFFER.unknown("CONFIG GET does not have it");
                    }
                    long bytes = Long.parseLong(limit.group(1));
                    return OUTPUT_BUFFER.is(bytes == 0 || bytes >= LEAST_OUTPUT_BUFFER, limit.group());
                }));
    }

    /** Deletes the keys of the checks and of the lock. Those that are left after a failure end by themselves. */
    @Override
    public Mono<Void> close() {
        return Flux.fromIterable(masters)
                .flatMap(master -> master.commands()
                        .del(keys(
                                master,
                                "a",
                                "b",
                                "h",
                                "z",
                                "s",
                                "l",
                                "mutex",
                                "mutex:queue",
                                "mutex:claims",
                                "mutex:held",
                                "mutex:gone",
                                "mutex:interest",
                                "mutex:aside"))
                        .timeout(SOON)
                        .onErrorComplete())
                .then(Mono.fromFuture(() -> client.shutdownAsync(0, 1, TimeUnit.SECONDS)));
    }
}
