package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.testkit.server.Signals;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ZooKeeperPausedProcessIT {

    @Test
    void processThatWasStoppedForLongerThanItsSessionDoesNotBelieveThatItHolds() throws Exception {
        try (Store store = Store.start()) {
            LockClient rivals = LockClient.create(ZooKeeperLockBackend.over(store.client("paused")));
            Queue<String> lines = new ConcurrentLinkedQueue<>();
            Process process = start(store, lines);
            try {
                Waiting.until("the process holds", () -> number(lines, "valid ") > 3);
                CompletableFuture<Long> granted = new CompletableFuture<>();
                CompletableFuture<LockLease> rival = rivals.lock("paused")
                        .acquire()
                        .doOnNext(lease -> granted.complete(System.nanoTime()))
                        .toFuture();
                Waiting.until(
                        "the rival waits",
                        () -> store.claims("/paused/holdfast").size() == 2);
                Signals.pause(process.pid());
                assertThat(rival).succeedsWithin(Store.SESSION.multipliedBy(4));
                long before = number(lines, "valid ");
                Signals.resume(process.pid());
                Waiting.until("the process has noticed the loss", () -> number(lines, "lost ") == 1);
                assertThat(lines.stream()
                                .filter(line -> line.startsWith("valid "))
                                .map(line -> Long.parseLong(line.substring(6))))
                        .as("times at which the process believed that it held, with the rival since %d", granted.join())
                        .allMatch(at -> at < granted.join());
                assertThat(number(lines, "valid "))
                        .as("the line that the process was printing")
                        .isLessThanOrEqualTo(before + 1);
                long token = tokenOf(lines, "held ");
                assertThat(rival.join().fencingToken()).isGreaterThan(token);
                Waiting.forMono(rival.join().release());
                Waiting.until("the process gets the lock again", () -> number(lines, "again ") == 1);
                assertThat(tokenOf(lines, "again ")).isGreaterThan(rival.join().fencingToken());
                assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
            } finally {
                process.destroyForcibly();
            }
            Waiting.forMono(rivals.close());
        }
    }

    private static long number(Queue<String> lines, String start) {
        return lines.stream().filter(line -> line.startsWith(start)).count();
    }

    private static long tokenOf(Queue<String> lines, String start) {
        return lines.stream()
                .filter(line -> line.startsWith(start))
                .mapToLong(line -> Long.parseLong(line.substring(start.length())))
                .findFirst()
                .orElseThrow();
    }

    private static Process start(Store store, Queue<String> lines) throws IOException {
        Process process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        HoldingProcess.class.getName(),
                        store.address(),
                        Long.toString(Store.SESSION.toMillis())))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        Thread reader = new Thread(() -> read(process, lines), "lines of the process");
        reader.setDaemon(true);
        reader.start();
        return process;
    }

    private static void read(Process process, Queue<String> lines) {
        try (BufferedReader reader =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.add(line);
            }
        } catch (IOException ended) {
            lines.add("ended: " + ended.getMessage());
        }
    }
}
