package io.holdfast.benchmarks;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The CPU that a Redis server has used, by all threads of its process. */
final class ServerCpu implements AutoCloseable {

    private static final Pattern USED = Pattern.compile("used_cpu_(?:user|sys):([0-9.]+)");

    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;

    ServerCpu(String uri) {
        client = RedisClient.create(RedisURI.create(uri));
        connection = client.connect();
    }

    /** Since the server started. */
    long nanos() {
        return nanosOf(connection.sync().info("cpu"));
    }

    /** Of an answer to {@code INFO cpu}. */
    static long nanosOf(String info) {
        double seconds = 0;
        int found = 0;
        for (Matcher used = USED.matcher(info); used.find(); found++) {
            seconds += Double.parseDouble(used.group(1));
        }
        if (found != 2) {
            throw new IllegalArgumentException("no CPU of the user and of the system in: " + info);
        }
        return Math.round(seconds * 1e9);
    }

    @Override
    public void close() {
        connection.close();
        client.shutdown(0, 2, TimeUnit.SECONDS);
    }
}
