package io.holdfast.testkit.server;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A real master with replicas that are in step, on free ports, empty, without persistence. Nothing replaces a master that
 * goes away: {@link RedisSentinels} does that. It ends with {@link #close} or with this JVM. The servers are child processes:
 * {@code redis-server} on the PATH, else, or when {@value RedisServer#SWITCH} says {@code embedded}, the binary that
 * embedded-redis brings. Docker is not used for it. Its methods block.
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
     * Starts all of them.
     *
     * @param replicas how many, at least 1
     * @return a master whose replicas are in step
     * @throws IllegalArgumentException if no replica is asked for
     * @throws IllegalStateException if they cannot be started
     */
    public static RedisReplicas start(int replicas) {
        return start(replicas, List.of());
    }

    /** With more arguments for each of them. */
    static RedisReplicas start(int replicas, List<String> more) {
        List<String> arguments = new ArrayList<>(List.of("--repl-diskless-sync-delay", "0"));
        arguments.addAll(more);
        return new RedisReplicas(server(arguments), false).with(replicas, more);
    }

    /**
     * Gives replicas to a server that is there already, a master of a cluster too: these do not take part in the cluster.
     *
     * @param master a child process of this machine; stays open
     * @param replicas how many, at least 1
     * @return replicas that are in step
     * @throws IllegalArgumentException if no replica is asked for
     * @throws IllegalStateException if they cannot be started
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
            // A write that all have to acknowledge: for the master a replica counts from its first acknowledgement on.
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
     * The server that takes writes.
     *
     * @return always the same
     */
    public RedisServer master() {
        return master;
    }

    /**
     * The servers that copy them.
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
