package io.holdfast.testkit.server;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A real cluster of three masters without replicas, of its own, on free ports, empty; it ends with {@link #close} or with this
 * JVM. The servers are child processes: {@code redis-server} on the PATH, else, or when {@value RedisServer#SWITCH} says
 * {@code embedded}, the binary that embedded-redis brings. Docker is not used for it.
 *
 * <p>A slot whose master is stopped is not served; the other slots are. Its methods block.
 */
public final class RedisCluster implements AutoCloseable {

    private static final int MASTERS = 3;
    private static final int SLOTS = 16_384;

    private final List<RedisServer> masters = new ArrayList<>();

    private RedisCluster() {}

    /**
     * Starts the servers and makes them a cluster.
     *
     * @return a cluster in which every slot is served
     * @throws IllegalStateException if it cannot be started
     */
    public static RedisCluster start() {
        RedisCluster cluster = new RedisCluster();
        try {
            for (int i = 0; i < MASTERS; i++) {
                cluster.masters.add(server());
            }
            cluster.join();
            return cluster;
        } catch (RuntimeException e) {
            cluster.close();
            throw e;
        }
    }

    private static RedisServer server() {
        RedisChoice.Started started = RedisChoice.local(
                List.of(
                        "--save",
                        "",
                        "--appendonly",
                        "no",
                        "--protected-mode",
                        "no",
                        "--cluster-enabled",
                        "yes",
                        "--cluster-node-timeout",
                        "2000",
                        "--cluster-require-full-coverage",
                        "no"),
                "");
        return new RedisServer(started.process(), started.kind(), null);
    }

    private void join() {
        for (int i = 0; i < MASTERS; i++) {
            ask(i, List.of("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1)));
            List<String> slots = new ArrayList<>(List.of("CLUSTER", "ADDSLOTS"));
            IntStream.range(SLOTS * i / MASTERS, SLOTS * (i + 1) / MASTERS)
                    .mapToObj(Integer::toString)
                    .forEach(slots::add);
            ask(i, slots);
        }
        for (RedisServer other : masters.subList(1, MASTERS)) {
            ask(0, List.of("CLUSTER", "MEET", other.host(), Integer.toString(other.port())));
        }
        for (int i = 0; i < MASTERS; i++) {
            int number = i;
            PlainQuestion.await("server %d of the cluster sees all slots".formatted(i), () -> sees(number));
        }
    }

    private boolean sees(int number) {
        String info = PlainQuestion.ask(masters.get(number), List.of("CLUSTER", "INFO"));
        return info.contains("cluster_state:ok")
                && info.contains("cluster_slots_ok:" + SLOTS)
                && info.contains("cluster_size:" + MASTERS);
    }

    private void ask(int number, List<String> words) {
        String answer = PlainQuestion.ask(masters.get(number), words);
        if (!answer.startsWith("OK")) {
            throw new IllegalStateException("%s answered %s".formatted(words.get(1), answer));
        }
    }

    /**
     * The masters, by their slots: each has a third of them.
     *
     * @return an immutable list
     */
    public List<RedisServer> masters() {
        return List.copyOf(masters);
    }

    @Override
    public void close() {
        masters.forEach(RedisServer::close);
    }

    @Override
    public String toString() {
        return "cluster of " + masters;
    }
}
