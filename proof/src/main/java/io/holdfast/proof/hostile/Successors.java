package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Notes when another server of a group becomes its master. Sentinels and clusters fail over by themselves when a machine is too busy. Each change is a
 * gap. It begins at the last moment at which the former master was surely the only one, with its replica in step. It ends at the first moment at
 * which that holds again.
 */
final class Successors implements AutoCloseable {

    private static final Duration POLL_INTERVAL = Duration.ofMillis(50);
    private static final Duration PATIENCE = Duration.ofMillis(500);

    private final List<Group> groups;
    private final Thread watcher = new Thread(this::watch, "successors");

    private Successors(List<List<RedisServer>> groups) {
        this.groups = groups.stream().map(Group::new).toList();
    }

    /** Each group has one master. */
    static Successors watch(List<List<RedisServer>> groups) {
        Successors successors = new Successors(groups);
        successors.watcher.setDaemon(true);
        successors.watcher.start();
        return successors;
    }

    List<Gap> gaps() {
        return groups.stream().flatMap(group -> group.gaps().stream()).toList();
    }

    private void watch() {
        try {
            while (true) {
                groups.forEach(Group::check);
                Strike.last(POLL_INTERVAL);
            }
        } catch (InterruptedException ended) {
            groups.forEach(Group::close);
        }
    }

    @Override
    public void close() {
        watcher.interrupt();
    }

    /** A master and its replica. All fields but the gaps belong to the watcher. */
    private static final class Group {

        private final List<RedisServer> servers;
        private final Map<RedisServer, StatefulRedisConnection<String, String>> connections = new HashMap<>();
        private final List<Gap> gaps = new CopyOnWriteArrayList<>();

        private @Nullable RedisServer steady;
        private long steadyNanos = System.nanoTime();

        /** Whether another server is a master; read by other threads. */
        private volatile boolean isChanging;

        Group(List<RedisServer> servers) {
            this.servers = List.copyOf(servers);
        }

        /** Returns the gaps; one that is still open ends now. */
        List<Gap> gaps() {
            List<Gap> all = new ArrayList<>(gaps);
            if (isChanging) {
                all.add(new Gap(steadyNanos, System.nanoTime()));
            }
            return all;
        }

        void check() {
            long beforeNanos = System.nanoTime();
            List<RedisServer> masters = new ArrayList<>();
            boolean isInStep = false;
            for (RedisServer server : servers) {
                String info = info(server);
                if (info.contains("role:master")) {
                    masters.add(server);
                    isInStep |= info.contains("state=online");
                }
            }
            RedisServer known = steady;
            isChanging |= known != null && masters.stream().anyMatch(master -> !master.equals(known));
            if (masters.size() == 1 && isInStep) {
                if (isChanging) {
                    gaps.add(new Gap(steadyNanos, System.nanoTime()));
                    isChanging = false;
                }
                steady = masters.get(0);
                steadyNanos = beforeNanos;
            }
        }

        private String info(RedisServer server) {
            try {
                StatefulRedisConnection<String, String> open = connections.get(server);
                if (open == null || !open.isOpen()) {
                    open = RedisStore.connect(server.port());
                    open.setTimeout(PATIENCE);
                    connections.put(server, open);
                }
                return open.sync().info("replication");
            } catch (RedisException away) {
                return "";
            }
        }

        void close() {
            connections.values().forEach(StatefulRedisConnection::close);
        }
    }
}
