package io.holdfast.redis;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockKind;
import io.holdfast.redis.internal.protocol.LockKeys;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.KeyValue;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A server, and a connection to it that shares nothing with the back end. Its methods block, as tests may. */
public final class Store implements AutoCloseable {

    static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final Pattern COMMAND = Pattern.compile("cmdstat_([^:|]+)[^:]*:calls=(\\d+)");

    /** Of new connections and of this test; and in a cluster of its clients, which read its map now and then. */
    private static final Set<String> OF_NO_CLAIM = Set.of(
            "info",
            "hello",
            "auth",
            "client",
            "ping",
            "script",
            "subscribe",
            "ssubscribe",
            "cluster",
            "command",
            "psync",
            "replconf");

    final RedisServer server;
    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;

    private Store(RedisServer server) {
        this.server = server;
        client = RedisClient.create(server.uri());
        connection = client.connect();
    }

    static Store start(String... args) {
        return new Store(RedisServer.builder().args(args).start());
    }

    /** Observes a server that another owner closes; see {@link #stopObserving}. */
    static Store observing(RedisServer server) {
        return new Store(server);
    }

    RedisURI uri() {
        return RedisURI.create(server.uri());
    }

    RedisLockBackend backend() {
        return RedisLockBackend.create(uri());
    }

    RedisCommands<String, String> redis() {
        return connection.sync();
    }

    public static LockClaim claim(String name) {
        return claim(name, Waiting.NONE);
    }

    public static LockClaim claim(String name, Waiting waiting) {
        return claim(LockKey.of(LockKind.MUTEX, name), waiting);
    }

    public static LockClaim claim(LockKey key, Waiting waiting) {
        return LockClaim.first(key, UUID.randomUUID().toString(), LEASE, waiting);
    }

    static String holderKey(String name) {
        return holderKey(LockKey.of(LockKind.MUTEX, name));
    }

    static String holderKey(LockKey key) {
        return LockKeys.of("holdfast:", key).holder();
    }

    /** Returns the key with the last token, kept for as long as two hours: the record. */
    static String counterKey(LockKey key) {
        return holderKey(key);
    }

    @CanIgnoreReturnValue
    static <T> T answer(Mono<T> request) {
        try {
            return request.toFuture().get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw new AssertionError(e.getCause());
        } catch (TimeoutException | InterruptedException e) {
            throw new AssertionError("no answer within " + PATIENCE, e);
        }
    }

    static void end(@Nullable RedisLockBackend backend) {
        if (backend != null) {
            Object nothing = backend.close().toFuture().join();
            assert nothing == null;
        }
    }

    /**
     * Returns how often the server has run a command since {@code CONFIG RESETSTAT}; commands inside scripts count too.
     */
    long calls(String command) {
        Matcher line = Pattern.compile("cmdstat_" + command + ":calls=(\\d+)").matcher(redis().info("commandstats"));
        return line.find() ? Long.parseLong(line.group(1)) : 0;
    }

    /** Returns how often the server has got a whole script since {@code CONFIG RESETSTAT}. */
    long wholeScripts() {
        return calls("script(?:\\|load)?") + calls("eval");
    }

    /** Returns how many commands the server has run, inside scripts too, without those that belong to no claim. */
    long serverWork() {
        return COMMAND.matcher(redis().info("commandstats"))
                .results()
                .filter(it -> !OF_NO_CLAIM.contains(it.group(1)))
                .mapToLong(it -> Long.parseLong(it.group(2)))
                .sum();
    }

    /** Makes a user with these ACL rules and no others. */
    void user(String name, String rules) {
        var args = new CommandArgs<>(StringCodec.UTF8).add("SETUSER").add(name).add("reset");
        for (String rule : rules.split(" ", -1)) {
            args.add(rule);
        }
        String answer = redis().dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8), args);
        if (!"OK".equals(answer)) {
            throw new AssertionError("ACL SETUSER answered " + answer);
        }
    }

    List<String> keys() {
        return redis().keys("*");
    }

    /** Returns how many wait for the lock, the members of a run among them. */
    static long waiting(RedisCommands<String, String> redis, String holderKey) {
        return redis.zcard(holderKey + ":queue");
    }

    /** Returns the ids of the waiters of the lock, the next one first. */
    static List<String> waiters(RedisCommands<String, String> redis, String holderKey) {
        return redis.zrange(holderKey + ":queue", 0, -1);
    }

    /** Returns the key of what the server knows of each waiter. */
    static String entries(String holderKey) {
        return holderKey + ":claims";
    }

    /**
     * Returns the keys of locks that are held, or that a waiter wants: without records that have the last token alone, and tombstones.
     */
    List<String> leftovers() {
        Set<String> free = freeRecords();
        return keys().stream()
                .filter(key -> !key.contains(":gone") && !free.contains(key))
                .filter(key -> !(key.endsWith(":claims") && hasNoClaims(key)))
                .toList();
    }

    /** What a server knows of runs that are over, and of grants that a client has not answered, stays a while, as tombstones do. */
    private boolean hasNoClaims(String claims) {
        return redis().hkeys(claims).stream().allMatch(field -> "!*+".indexOf(field.charAt(0)) >= 0);
    }

    /** Reads them with one command, however many there are; in a cluster with one for each. */
    private Set<String> freeRecords() {
        String[] names = keys().stream()
                .filter(key -> key.endsWith(":mutex") || key.endsWith(":rw") || key.endsWith(":semaphore"))
                .toArray(String[]::new);
        if (names.length == 0) {
            return Set.of();
        }
        boolean isCluster = redis().info("cluster").contains("cluster_enabled:1");
        List<KeyValue<String, String>> records = isCluster
                ? Stream.of(names).flatMap(key -> redis().mget(key).stream()).toList()
                : redis().mget(names);
        long now = micros();
        return records.stream()
                .filter(record -> record.hasValue() && endMicros(record.getValue()) <= now)
                .map(KeyValue::getKey)
                .collect(Collectors.toSet());
    }

    private static long endMicros(String record) {
        return record.startsWith("1H") ? Long.parseLong(record.substring(3, 19)) : 0;
    }

    /** Whether there is a lease of the lock with this first key, alone or of a share. */
    boolean isHeld(String key) {
        return leaseLeft(key) > 0 || redis().exists(key + ":held") == 1;
    }

    /** Returns the rest of the lease of the claim that holds the lock alone, in milliseconds, by its record; 0 if there is none. */
    long leaseLeft(String record) {
        return Math.max(0, endMicros(String.valueOf(redis().get(record))) - micros()) / 1_000;
    }

    /** Returns the last token of a mutex, by its record. */
    long token(String mutexKey) {
        String record = redis().get(mutexKey);
        int at = record.startsWith("1H") ? 19 : 3;
        return Long.parseLong(record.substring(at, at + 16));
    }

    /** Returns the server's time. */
    long micros() {
        List<String> time = redis().time();
        return Long.parseLong(time.get(0)) * 1_000_000 + Long.parseLong(time.get(1));
    }

    long clients() {
        return redis().clientList().lines().count();
    }

    void stopObserving() {
        connection.close();
        client.shutdown(0, 2, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        stopObserving();
        server.close();
    }
}
