package io.holdfast.testkit.server;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A real master with one replica, and three sentinels that replace a master after half a second of silence; all on free
 * ports, empty, without persistence. It ends with {@link #close} or with this JVM. The servers are child processes:
 * {@code redis-server} on the PATH, or else, or when {@value RedisServer#SWITCH} is {@code embedded}, the binary of
 * embedded-redis. It does not use Docker. Its methods block.
 */
public final class RedisSentinels implements AutoCloseable {

    /** The name of the master for the sentinels: {@value}. */
    public static final String MASTER_NAME = "holdfast";

    private static final int SENTINELS = 3;

    private final RedisReplicas replicas;
    private final List<RedisServer> sentinels = new ArrayList<>();

    private RedisSentinels(List<String> more) {
        replicas = RedisReplicas.start(1, more);
    }

    /**
     * Starts the servers and the sentinels.
     *
     * @param more arguments for the master and its replica, each word separately
     * @return a master whose replica is in step, and sentinels that know each other
     * @throws IllegalStateException if a server cannot be started
     */
    public static RedisSentinels start(String... more) {
        RedisSentinels all = new RedisSentinels(List.of(more));
        try {
            all.startAll();
            return all;
        } catch (RuntimeException e) {
            all.close();
            throw e;
        }
    }

    private void startAll() {
        RedisServer master = replicas.master();
        String port = Integer.toString(master.port());
        String config = """
                sentinel monitor %1$s %2$s %3$s 2
                sentinel down-after-milliseconds %1$s 500
                sentinel failover-timeout %1$s 3000
                """.formatted(MASTER_NAME, master.host(), port);
        for (int i = 0; i < SENTINELS; i++) {
            RedisChoice.Started started = RedisChoice.local(List.of("--sentinel", "--protected-mode", "no"), config);
            sentinels.add(new RedisServer(started.process(), started.kind(), null));
        }
        sentinels.forEach(one -> PlainQuestion.await("the sentinels know each other", () -> knowsAll(one)));
    }

    private static boolean knowsAll(RedisServer sentinel) {
        String master = PlainQuestion.ask(sentinel, List.of("SENTINEL", "MASTER", MASTER_NAME));
        return master.contains("num-slaves\n1\n")
                && master.contains("num-other-sentinels\n%d\n".formatted(SENTINELS - 1))
                && master.contains("flags\nmaster\n");
    }

    /**
     * Returns the address with the sentinels.
     *
     * @return for example {@code redis-sentinel://127.0.0.1:40001,127.0.0.1:40002,127.0.0.1:40003#holdfast}
     */
    public String uri() {
        return sentinels.stream()
                .map(one -> one.host() + ":" + one.port())
                .collect(Collectors.joining(",", "redis-sentinel://", "#" + MASTER_NAME));
    }

    /**
     * Returns the first master and its replica.
     *
     * @return an immutable list of two
     */
    public List<RedisServer> servers() {
        return List.of(replicas.master(), replicas.replicas().get(0));
    }

    /**
     * Waits until the sentinels name this server as the master, and it is the master.
     *
     * @param server one of {@link #servers}
     * @throws IllegalStateException if that takes more than half a minute
     */
    public void awaitMaster(RedisServer server) {
        PlainQuestion.await(server + " is the master", () -> isMaster(server));
    }

    /**
     * Returns whether a server is the master, and every sentinel says so.
     *
     * @param server one of {@link #servers}
     * @return true if all agree
     * @throws IllegalStateException if one of them refuses to answer
     * @throws java.io.UncheckedIOException if one of them does not answer
     */
    public boolean isMaster(RedisServer server) {
        String port = "\n%d\n".formatted(server.port());
        return sentinels.stream().allMatch(one -> named(one).contains(port))
                && PlainQuestion.ask(server, List.of("ROLE")).startsWith("master");
    }

    private static String named(RedisServer sentinel) {
        return PlainQuestion.ask(sentinel, List.of("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER_NAME));
    }

    @Override
    public void close() {
        sentinels.forEach(RedisServer::close);
        replicas.close();
    }

    @Override
    public String toString() {
        return "%s with %d sentinels".formatted(servers(), SENTINELS);
    }
}
