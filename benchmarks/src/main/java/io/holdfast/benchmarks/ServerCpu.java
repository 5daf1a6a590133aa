package io.holdfast.benchmarks;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The CPU time of servers, for all threads of their processes. */
public final class ServerCpu implements AutoCloseable {

    private static final Pattern USED = Pattern.compile("used_cpu_(?:user|sys):([0-9.]+)");

    private final LongSupplier nanos;
    private final Runnable end;

    private ServerCpu(LongSupplier nanos, Runnable end) {
        this.nanos = nanos;
        this.end = end;
    }

    /** Reads that of one Redis. */
    public static ServerCpu at(String uri) {
        RedisClient client = RedisClient.create(RedisURI.create(uri));
        StatefulRedisConnection<String, String> connection = client.connect();
        return new ServerCpu(() -> nanosOf(connection.sync().info("cpu")), () -> {
            connection.close();
            client.shutdown(0, 2, TimeUnit.SECONDS);
        });
    }

    /** Reads that of processes on this machine, which need not answer. */
    static ServerCpu of(List<Long> pids) {
        return new ServerCpu(
                () -> pids.stream().mapToLong(ServerCpu::nanosOfProcess).sum(), () -> {});
    }

    /** Reads that of a process and of its children: a PostgreSQL has one for each connection. Ended processes do not count any more. */
    static ServerCpu ofTree(long pid) {
        return new ServerCpu(
                () -> nanosOfProcess(pid)
                        + ProcessHandle.of(pid).stream()
                                .flatMap(ProcessHandle::descendants)
                                .mapToLong(it -> nanosOfProcess(it.pid()))
                                .sum(),
                () -> {});
    }

    private static long nanosOfProcess(long pid) {
        return ProcessHandle.of(pid)
                .flatMap(process -> process.info().totalCpuDuration())
                .map(Duration::toNanos)
                .orElse(0L);
    }

    /** Returns the CPU time since the servers started. */
    public long nanos() {
        return nanos.getAsLong();
    }

    /** Parses an answer to {@code INFO cpu}. */
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
        end.run();
    }
}
