package io.holdfast.benchmarks.crowd;

import io.holdfast.LockClient;
import io.holdfast.LockReport;
import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.benchmarks.watch.Pause;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.redis.RedisLockInspector;
import io.holdfast.testkit.server.Signals;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import reactor.core.publisher.Flux;

/** A process with claims that wait for one lock. It is killed or frozen, so its claims vanish together. */
final class VanishingWaiters implements AutoCloseable {

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final Process process;

    private VanishingWaiters(Process process) {
        this.process = process;
    }

    /** Starts the process, and waits until all its claims have a place. Another client must hold the lock meanwhile. */
    static VanishingWaiters start(Addresses addresses, Kind kind, String name, int count) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx256m");
        command.addAll(addresses.asArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), VanishingWaiters.class.getName()));
        command.addAll(List.of(kind.name(), name, Integer.toString(count)));
        try {
            VanishingWaiters waiters = new VanishingWaiters(new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                    .start());
            awaitPlaces(addresses, name, count);
            Pause.millis(500); // until its channel has subscribed
            return waiters;
        } catch (IOException e) {
            throw new UncheckedIOException("no process for waiters", e);
        }
    }

    private static void awaitPlaces(Addresses addresses, String name, int count) {
        RedisLockInspector inspector =
                RedisLockBackend.builder(RedisURI.create(addresses.redis())).inspector();
        try {
            long end = System.nanoTime() + LIMIT.toNanos();
            while (waiters(inspector, name) < count) {
                if (System.nanoTime() - end > 0) {
                    throw new IllegalStateException(
                            "fewer than %d wait for '%s' after %s".formatted(count, name, LIMIT));
                }
                LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
            }
        } finally {
            Object unused = inspector.close().block(LIMIT);
        }
    }

    private static long waiters(RedisLockInspector inspector, String name) {
        return Flux.from(inspector.inspect(name))
                .map(LockReport::waiterCount)
                .reduce(0L, Long::sum)
                .blockOptional(LIMIT)
                .orElse(0L);
    }

    /** The process dies, and its connections end. */
    void kill() {
        try {
            int code = process.destroyForcibly().waitFor();
            assert code != 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The process hangs, and its connections stay open. */
    void freeze() {
        Signals.pause(process.pid());
    }

    @Override
    public void close() {
        kill();
    }

    /** Waits for the lock until this process is killed, or for two minutes. */
    public static void main(String[] args) {
        Kind kind = Kind.valueOf(args[0]);
        LockClient client = LockClient.create(
                RedisLockBackend.create(RedisURI.create(Addresses.given().redis())));
        for (int i = 0; i < Integer.parseInt(args[2]); i++) {
            var unused = kind.lock(client, args[1]).acquire().subscribe(lease -> {}, error -> {});
        }
        LockSupport.parkNanos(Duration.ofMinutes(2).toNanos());
        System.exit(0);
    }
}
