package io.holdfast.proof.hostile;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;

/** Sends commands to one Redis server, each over a new connection: another server may listen there by the next command. */
public final class RedisStore {

    /** These keys may stay if they expire: the marks of claims that were withdrawn without an answer. */
    private static final String TOMBSTONE = ":gone";

    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private RedisStore() {}

    public static <T> T ask(int port, Function<RedisCommands<String, String>, T> question) {
        try (StatefulRedisConnection<String, String> connection = connect(port)) {
            return question.apply(connection.sync());
        } catch (RedisException e) {
            throw new IllegalStateException("the Redis at port %d failed: %s".formatted(port, e.getMessage()), e);
        }
    }

    /** Opens a connection with all rights, which does not reconnect. */
    static StatefulRedisConnection<String, String> connect(int port) {
        return Driver.CLIENT.connect(RedisURI.builder()
                .withHost("127.0.0.1")
                .withPort(port)
                .withTimeout(PATIENCE)
                .build());
    }

    /** Holds the client, which starts with its first use and lives until this process ends. */
    private static final class Driver {

        static final RedisClient CLIENT = create();

        private Driver() {}

        private static RedisClient create() {
            RedisClient client = RedisClient.create();
            client.setOptions(ClientOptions.builder().autoReconnect(false).build());
            return client;
        }
    }

    /** This key may stay: the record of a free mutex, or of another lock, with its last token, which expires. */
    private static boolean isFreeRecord(RedisCommands<String, String> redis, String key) {
        if (redis.pttl(key) == -1) {
            return false;
        } else if (!key.endsWith(":mutex")) {
            return key.endsWith(":rw") || key.endsWith(":semaphore");
        }
        String record = String.valueOf(redis.get(key));
        List<String> now = redis.time();
        long nowMicros = Long.parseLong(now.get(0)) * 1_000_000 + Long.parseLong(now.get(1));
        return record.startsWith("1F")
                || (record.startsWith("1H") && Long.parseLong(record.substring(3, 19)) < nowMicros);
    }

    /** Of runs that are over, and of clients that confirmed no grant: they end by themselves. */
    private static boolean isTrace(RedisCommands<String, String> redis, String key) {
        if (redis.pttl(key) == -1) {
            return false;
        } else if (key.endsWith(":aside")) {
            return redis.zrange(key, 0, -1).stream().allMatch(it -> it.endsWith(" 0"));
        }
        return key.endsWith(":claims") && redis.hkeys(key).stream().allMatch(it -> "!\"*+".indexOf(it.charAt(0)) >= 0);
    }

    static List<String> leftovers(int port) {
        List<String> left = ask(
                port,
                redis -> redis.keys("*").stream()
                        .filter(key -> !key.contains(TOMBSTONE) || redis.pttl(key) == -1)
                        .filter(key -> !isFreeRecord(redis, key) && !isTrace(redis, key))
                        .toList());
        return left.stream()
                .map(key -> "key %s at port %d".formatted(key, port))
                .toList();
    }
}
