package io.holdfast.spring;

import static java.util.Objects.requireNonNull;

import com.sun.management.OperatingSystemMXBean;
import io.holdfast.LockClient;
import io.holdfast.testkit.server.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.ObjIntConsumer;
import java.util.stream.Stream;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Measures the cost of {@code holdfast.deliver-on}: rounds of cycles on one Redis, alternately on threads and on the event loop. A program. */
final class DeliveryCost {

    private static final int ROUNDS = 9;
    private static final int CYCLES = 4_000;

    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private record Reading(long nanos, long cpuNanos, long switches) {

        static Reading now() {
            return new Reading(System.nanoTime(), SYSTEM.getProcessCpuTime(), contextSwitches());
        }

        private static long contextSwitches() {
            try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
                return tasks.mapToLong(Reading::switchesOf).sum();
            } catch (IOException unreadable) {
                throw new UncheckedIOException(unreadable);
            }
        }

        private static long switchesOf(Path task) {
            try {
                return Files.readAllLines(task.resolve("status")).stream()
                        .filter(line -> line.contains("ctxt_switches"))
                        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D+", "")))
                        .sum();
            } catch (NoSuchFileException ended) {
                return 0;
            } catch (IOException unreadable) {
                throw new UncheckedIOException(unreadable);
            }
        }

        String since(Reading before) {
            return "%6.1f us, %6.1f us of processor, %5.2f context switches"
                    .formatted(
                            (nanos - before.nanos) / 1e3 / CYCLES,
                            (cpuNanos - before.cpuNanos) / 1e3 / CYCLES,
                            (double) (switches - before.switches) / CYCLES);
        }
    }

    private DeliveryCost() {}

    /** One chain of cycles, one after another. */
    private static void reactive(LockClient locks, int cycles) {
        Flux.range(0, cycles)
                .concatMap(cycle -> locks.lock("a").withLock(Mono.just(cycle)))
                .blockLast();
    }

    private static void lanes(LockClient locks, int cycles) {
        Flux.range(0, cycles)
                .flatMap(cycle -> locks.lock("a/" + cycle % 32).withLock(Mono.just(cycle)), 32)
                .blockLast();
    }

    /** A thread that waits for each of its cycles. */
    private static void blocking(LockClient locks, int cycles) {
        for (int cycle = 0; cycle < cycles; cycle++) {
            int unused =
                    requireNonNull(locks.lock("a").withLock(Mono.just(cycle)).block());
        }
    }

    /**
     * Prints a line for each round.
     *
     * @param args names of {@code holdfast.deliver-on} to compare
     */
    public static void main(String... args) {
        Map<String, ObjIntConsumer<LockClient>> loads = new LinkedHashMap<>();
        loads.put("one chain", DeliveryCost::reactive);
        loads.put("32 at a time", DeliveryCost::lanes);
        loads.put("a thread that waits", DeliveryCost::blocking);
        try (RedisServer server = RedisServer.start()) {
            ApplicationContextRunner runner = new ApplicationContextRunner()
                    .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
                    .withPropertyValues("holdfast.backend=redis", "holdfast.redis.uri=" + server.uri());
            runner.withPropertyValues("holdfast.deliver-on=" + args[0])
                    .run(first -> runner.withPropertyValues("holdfast.deliver-on=" + args[1])
                            .run(second -> compare(
                                    loads,
                                    Map.of(
                                            args[0],
                                            first.getBean(LockClient.class),
                                            args[1],
                                            second.getBean(LockClient.class)))));
        }
    }

    private static void compare(Map<String, ObjIntConsumer<LockClient>> loads, Map<String, LockClient> clients) {
        for (int round = 0; round < ROUNDS; round++) {
            loads.forEach((load, cycles) -> clients.forEach((where, locks) -> {
                Reading before = Reading.now();
                cycles.accept(locks, CYCLES);
                System.out.printf("%-20s %-16s %s%n", load, where, Reading.now().since(before));
            }));
        }
    }
}
