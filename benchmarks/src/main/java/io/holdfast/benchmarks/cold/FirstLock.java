package io.holdfast.benchmarks.cold;

import io.holdfast.LockClient;
import io.holdfast.LockException;
import io.holdfast.LockLease;
import io.holdfast.redis.RedisAddress;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.testkit.server.RedisServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Measures the first {@code tryAcquire} of a JVM, on one processor that an endless loop shares. Needs {@code taskset}, so Linux. */
public final class FirstLock {

    private static final int JVMS = 20;
    private static final String WARM = "warm";

    private FirstLock() {}

    /**
     * Starts JVMs one after the other, and prints the median and the worst of their first attempts, without and with {@link LockClient#warmUp()}.
     *
     * @throws IOException if a JVM cannot be started
     */
    public static void measure() throws IOException {
        try (RedisServer redis = RedisServer.start()) {
            Process other =
                    onOneProcessor(List.of("sh", "-c", "while :; do :; done")).start();
            try {
                for (String how : List.of("cold", WARM)) {
                    List<Long> millis = new ArrayList<>();
                    int failed = 0;
                    for (int i = 0; i < JVMS; i++) {
                        String[] answer = jvm(redis.uri(), how).split(" ", -1);
                        millis.add(Long.parseLong(answer[0]));
                        failed += answer[1].equals("held") ? 0 : 1;
                    }
                    millis.sort(Long::compare);
                    System.out.printf(
                            "%s: p50 %d ms, worst %d ms, %d of %d not granted%n",
                            how, millis.get(JVMS / 2), millis.get(JVMS - 1), failed, JVMS);
                }
            } finally {
                other.destroyForcibly();
            }
        }
    }

    /**
     * One such JVM. Prints how long its first attempt took, and its outcome.
     *
     * @param args the address of the server, and whether to warm up first
     */
    public static void main(String[] args) {
        LockClient locks = LockClient.create(RedisLockBackend.create(RedisAddress.parse(args[0])));
        if (args[1].equals(WARM)) {
            locks.warmUp().block();
        }
        long begin = System.nanoTime();
        String outcome = outcome(locks);
        System.out.println((System.nanoTime() - begin) / TimeUnit.MILLISECONDS.toNanos(1) + " " + outcome);
        System.exit(0);
    }

    private static String outcome(LockClient locks) {
        try {
            LockLease lease = locks.lock("first/" + ProcessHandle.current().pid())
                    .tryAcquire()
                    .block();
            return lease == null ? "busy" : "held";
        } catch (LockException error) {
            return "failed";
        }
    }

    private static String jvm(String server, String how) throws IOException {
        Process jvm = onOneProcessor(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        FirstLock.class.getName(),
                        server,
                        how))
                .start();
        return new String(jvm.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    }

    private static ProcessBuilder onOneProcessor(List<String> command) {
        List<String> all = new ArrayList<>(List.of("taskset", "-c", "0"));
        all.addAll(command);
        return new ProcessBuilder(all).redirectError(ProcessBuilder.Redirect.INHERIT);
    }
}
