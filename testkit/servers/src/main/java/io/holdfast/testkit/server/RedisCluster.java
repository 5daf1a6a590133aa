package io.holdfast.testkit.server;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A real cluster of three masters, without replicas or with one each, on free ports, empty; it ends with {@link #close}
 * or with this JVM. The servers are child processes: {@code redis-server} on the PATH, or else, or when
 * {@value RedisServer#SWITCH} is {@code embedded}, the binary of embedded-redis. It does not use Docker.
 *
 * <p>If a master is stopped, its slots are not served until its replica, if it has one, is promoted; the other slots
 * are served. Its methods block.
 */
public final class RedisCluster implements AutoCloseable {

    private static final int MASTERS = 3;
    private static final int SLOTS = 16_384;

    private final List<RedisServer> masters = new ArrayList<>();
    private final List<RedisServer> replicas = new ArrayList<>();

    private RedisCluster() {}

    /**
     * Starts three masters and joins them into a cluster.
     *
     * @return a cluster in which every slot is served
     * @throws IllegalStateException if it cannot be started
     */
    public static RedisCluster start() {
        return start(false, List.of());
    }

    /**
     * Starts three masters with a replica each, which takes over some seconds after its master has stopped.
     *
     * @param more arguments for each server, each word separately
     * @return a cluster in which every slot is served, and every replica in step
     * @throws IllegalStateException if it cannot be started
     */
    public static RedisCluster startWithReplicas(String... more) {
        return start(true, List.of(more));
    }

    private static RedisCluster start(boolean withReplicas, List<String> more) {
        RedisCluster cluster = new RedisCluster();
        try {
            for (int i = 0; i < MASTERS; i++) {
                cluster.masters.add(server(more));
            }
            for (int i = 0; withReplicas && i < MASTERS; i++) {
                cluster.replicas.add(server(more));
            }
            cluster.join();
            cluster.replicate();
            return cluster;
        } catch (RuntimeException e) {
            cluster.close();
            throw e;
        }
    }

    private static RedisServer server(List<String> more) {
        List<String> arguments = new ArrayList<>(List.of(
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
                "no",
                "--cluster-replica-validity-factor",
                "0",
                "--repl-diskless-sync-delay",
                "0",
                // CLUSTER SLOTS names a replica once it has copied data; the first data is such a ping.
                "--repl-ping-replica-period",
                "1"));
        arguments.addAll(more);
        RedisChoice.Started started = RedisChoice.local(arguments, "");
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
        for (RedisServer other : all().subList(1, all().size())) {
            ask(0, List.of("CLUSTER", "MEET", other.host(), Integer.toString(other.port())));
        }
        for (int i = 0; i < MASTERS; i++) {
            int number = i;
            PlainQuestion.await("server %d of the cluster sees all slots".formatted(i), () -> sees(number));
        }
    }

    private void replicate() {
        for (int i = 0; i < replicas.size(); i++) {
            RedisServer replica = replicas.get(i);
            String master = PlainQuestion.ask(masters.get(i), List.of("CLUSTER", "MYID"))
                    .strip();
            PlainQuestion.await(
                    replica + " knows its master",
                    () -> PlainQuestion.ask(replica, List.of("CLUSTER", "NODES"))
                            .contains(master));
            ask(replica, List.of("CLUSTER", "REPLICATE", master));
        }
        replicas.forEach(replica -> PlainQuestion.await(
                replica + " is in step",
                () -> PlainQuestion.ask(replica, List.of("INFO", "replication")).contains("master_link_status:up")));
        for (int i = 0; i < replicas.size(); i++) {
            String port = "\n%d\n".formatted(replicas.get(i).port());
            masters.forEach(master -> PlainQuestion.await(
                    master + " knows all replicas",
                    () -> PlainQuestion.ask(master, List.of("CLUSTER", "SLOTS")).contains(port)));
        }
    }

    private boolean sees(int number) {
        String info = PlainQuestion.ask(masters.get(number), List.of("CLUSTER", "INFO"));
        return info.contains("cluster_state:ok")
                && info.contains("cluster_slots_ok:" + SLOTS)
                && info.contains("cluster_size:" + MASTERS);
    }

    private void ask(int number, List<String> words) {
        ask(masters.get(number), words);
    }

    private static void ask(RedisServer server, List<String> words) {
        String answer = PlainQuestion.ask(server, words);
        if (!answer.startsWith("OK")) {
            throw new IllegalStateException("%s answered %s".formatted(words.get(1), answer));
        }
    }

    /**
     * Returns the masters in the order of their slots: each has a third of them.
     *
     * @return an immutable list
     */
    public List<RedisServer> masters() {
        return List.copyOf(masters);
    }

    /**
     * Returns the replicas in the order of their masters.
     *
     * @return an immutable list; empty when the cluster has no replicas
     */
    public List<RedisServer> replicas() {
        return List.copyOf(replicas);
    }

    /**
     * Waits until a replica is promoted, and all running servers know it.
     *
     * @param number the index of the replica
     * @throws IllegalStateException if that takes more than half a minute
     */
    public void awaitPromotion(int number) {
        RedisServer replica = replicas.get(number);
        String owner = "%d\n%d\n%s\n%d\n"
                .formatted(
                        SLOTS * number / MASTERS, SLOTS * (number + 1) / MASTERS - 1, replica.host(), replica.port());
        List<RedisServer> running = all().stream()
                .filter(server -> server != masters.get(number))
                .filter(server -> server.pid().isPresent())
                .toList();
        PlainQuestion.await(
                replica + " is a master",
                () -> running.stream()
                        .allMatch(server -> PlainQuestion.ask(server, List.of("CLUSTER", "SLOTS"))
                                .contains(owner)));
    }

    private List<RedisServer> all() {
        return Stream.concat(masters.stream(), replicas.stream()).toList();
    }

    @Override
    public void close() {
        all().forEach(RedisServer::close);
    }

    @Override
    public String toString() {
        return "cluster of %s with replicas %s".formatted(masters, replicas);
    }
}
