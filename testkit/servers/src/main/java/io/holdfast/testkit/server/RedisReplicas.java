package io.holdfast.testkit.server;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A real master with replicas that are in step, on free ports, empty, without persistence. No server replaces a master
 * that stops: {@link RedisSentinels} does that. It ends with {@link #close} or with this JVM. The servers are child
 * processes: {@code redis-server} on the PATH, or else, or when {@value RedisServer#SWITCH} is {@code embedded}, the
 * binary of embedded-redis. It does not use Docker. Its methods block.
 */
public final class RedisReplicas implements AutoCloseable {

    private static final Pattern OFFSET = Pattern.compile("master_repl_offset:([1-9]\\d*)");

    private final RedisServer master;
    private final boolean isBorrowed;
    private final List<RedisServer> replicas = new ArrayList<>();

    private RedisReplicas(RedisServer master, boolean isBorrowed) {
        this.master = master;
        this.isBorrowed = isBorrowed;
    }

    /**
     * Starts a master and its replicas.
     *
     * @param replicas how many, at least 1
     * @return a master whose replicas are in step
     * @throws IllegalArgumentException if the number is less than 1
     * @throws IllegalStateException if a server cannot be started
     */
    public static RedisReplicas start(int replicas) {
        return start(replicas, List.of());
    }

    /** Starts them with more arguments for each server. */
    static RedisReplicas start(int replicas, List<String> more) {
        List<String> arguments = new ArrayList<>(List.of("--repl-diskless-sync-delay", "0"));
        arguments.addAll(more);
        return new RedisReplicas(server(arguments), false).with(replicas, more);
    }

    /**
     * Adds replicas to a running server, which may be a master of a cluster: the replicas do not join the cluster.
     *
     * @param master a child process of this machine; the caller closes it
     * @param replicas how many, at least 1
     * @return replicas that are in step
     * @throws IllegalArgumentException if the number is less than 1
     * @throws IllegalStateException if a server cannot be started
     */
    public static RedisReplicas of(RedisServer master, int replicas) {
        return new RedisReplicas(master, true).with(replicas, List.of());
    }

    private RedisReplicas with(int count, List<String> more) {
        try {
            if (count < 1) {
                throw new IllegalArgumentException("replicas must be at least 1, was " + count);
            }
            for (int i = 0; i < count; i++) {
                List<String> arguments =
                        new ArrayList<>(List.of("--replicaof", master.host(), Integer.toString(master.port())));
                arguments.addAll(more);
                replicas.add(server(arguments));
            }
            replicas.forEach(RedisReplicas::awaitLink);
            // All replicas have to acknowledge a write: the master counts a replica from its first acknowledgement on.
            String unused = PlainQuestion.ask(master, List.of("PUBLISH", "holdfast", "in step?"));
            PlainQuestion.await("the master sees its replicas in step", () -> isInStep(master, count));
            return this;
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private static RedisServer server(List<String> more) {
        List<String> arguments = new ArrayList<>(List.of("--save", "", "--appendonly", "no", "--protected-mode", "no"));
        arguments.addAll(more);
        RedisChoice.Started started = RedisChoice.local(arguments, "");
        return new RedisServer(started.process(), started.kind(), null);
    }

    private static void awaitLink(RedisServer replica) {
        PlainQuestion.await("the replica has copied", () -> info(replica).contains("master_link_status:up"));
    }

    private static boolean isInStep(RedisServer master, int replicas) {
        String info = info(master);
        Matcher offset = OFFSET.matcher(info);
        String acknowledged = offset.find() ? "state=online,offset=%s,".formatted(offset.group(1)) : "unknown";
        return info.split(Pattern.quote(acknowledged), -1).length == replicas + 1;
    }

    private static String info(RedisServer server) {
        return PlainQuestion.ask(server, List.of("INFO", "replication"));
    }

    /**
     * Returns the master.
     *
     * @return always the same server
     */
    public RedisServer master() {
        return master;
    }

    /**
     * Returns the replicas.
     *
     * @return an immutable list
     */
    public List<RedisServer> replicas() {
        return List.copyOf(replicas);
    }

    @Override
    public void close() {
        replicas.forEach(RedisServer::close);
        if (!isBorrowed) {
            master.close();
        }
    }

    @Override
    public String toString() {
        return "%s with replicas %s".formatted(master, replicas);
    }
}
