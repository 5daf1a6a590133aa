package io.holdfast.examples.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.redis.RedisAddress;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.testkit.server.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Processes stand for election. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class CandidateIT {

    /** The output of a process. */
    private record Line(int process, String text, long atNanos) {}

    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final BlockingQueue<Line> lines = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> shown = new LinkedBlockingQueue<>();

    /** Three processes stand for election, and each leader is killed. A fourth process shows the leader. */
    @Test
    void whenTheLeaderIsKilledAnotherLeadsWithAHigherToken() throws Exception {
        List<Program> processes = new ArrayList<>();
        try (RedisServer redis = RedisServer.start()) {
            for (int number : IntStream.range(0, 3).toArray()) {
                Program process = Program.start(Candidate.class, redis.uri());
                processes.add(process);
                assertThat(process.nextLine()).isEqualTo("standing");
                read(number, process);
            }
            Line leader = next(-1, 0);
            Program whoLeads = Program.start(WhoLeads.class, redis.uri());
            processes.add(whoLeads);
            inBackground(() -> whoLeads.eachLine(shown::add));
            leader = shownLeader(processes, leader);
            for (int kills = 0; kills < 2; kills++) {
                processes.get(leader.process()).kill();
                long killedAt = System.nanoTime();
                Line successor = next(leader.process(), token(leader));
                Duration handOver = Duration.ofNanos(successor.atNanos() - killedAt);
                System.out.printf("another process leads %d ms after the kill%n", handOver.toMillis());
                assertThat(token(successor)).isGreaterThan(token(leader));
                assertThat(handOver).as("the lease is 3 s").isLessThan(Duration.ofSeconds(30));
                leader = shownLeader(processes, successor);
            }
        } finally {
            processes.forEach(Program::kill);
        }
    }

    /** Without a release the lock stays held for two seconds or more after the end of the process. */
    @Test
    void aLeaderThatEndsInOrderReleasesTheLock() throws Exception {
        try (RedisServer redis = RedisServer.start()) {
            Program leader = Program.start(Candidate.class, redis.uri());
            LockClient client = LockClient.create(RedisLockBackend.create(RedisAddress.parse(redis.uri())));
            try {
                assertThat(leader.nextLine()).isEqualTo("standing");
                assertThat(leader.nextLine()).startsWith("leading with token");
                assertThat(client.lock("billing").tryAcquire().block(LIMIT)).isNull();

                leader.end();

                assertThat(client.lock("billing").tryAcquire().block(LIMIT)).isNotNull();
            } finally {
                leader.kill();
                client.close().block(LIMIT);
            }
        }
    }

    /** Returns this leader, or the next one if the machine stood still for longer than a lease. */
    private Line shownLeader(List<Program> processes, Line elected) throws InterruptedException {
        Line leader = elected;
        String last = "nothing";
        long end = System.nanoTime() + Duration.ofMinutes(1).toNanos();
        while (!last.endsWith(
                // The label of a process ends with its number.
                ":%d leads with token %d"
                        .formatted(processes.get(leader.process()).pid(), token(leader)))) {
            assertThat(System.nanoTime() - end)
                    .as("time in which %s is shown; the last that was shown is: %s", leader, last)
                    .isNegative();
            String next = shown.poll(100, TimeUnit.MILLISECONDS);
            last = next == null ? last : next;
            Line newer = lines.poll(); // each leader prints it repeatedly
            if (newer != null) {
                assertThat(token(newer)).as("no former leader prints").isGreaterThanOrEqualTo(token(leader));
                leader = newer;
            }
        }
        return leader;
    }

    /** Returns the first line of another leader. */
    private Line next(int former, long formerToken) throws InterruptedException {
        while (true) {
            Line line = lines.poll(1, TimeUnit.MINUTES);
            assertThat(line).as("a process leads").isNotNull();
            if (line.process() != former) {
                assertThat(token(line)).as("no former leader prints").isGreaterThan(formerToken);
                return line;
            }
        }
    }

    private static long token(Line line) {
        return Long.parseLong(line.text().substring("leading with token ".length()));
    }

    private void read(int number, Program process) {
        inBackground(() -> process.eachLine(text -> lines.add(new Line(number, text, System.nanoTime()))));
    }

    private static void inBackground(Runnable task) {
        Thread reader = new Thread(task);
        reader.setDaemon(true);
        reader.start();
    }
}
