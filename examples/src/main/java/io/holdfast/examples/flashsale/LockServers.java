package io.holdfast.examples.flashsale;

import io.holdfast.testkit.server.FreePorts;
import io.holdfast.testkit.server.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingServer;

/** The servers that guard the lock, and what happens to them half way through the sale. */
interface LockServers extends AutoCloseable {

    LockAddress address();

    /** Half of the buyers have an answer: kills what is to be killed, and returns how many servers that were. */
    int strike();

    @Override
    void close();

    /** The lock is at the Redis that has the stock. Nothing happens to it. */
    static LockServers shared(String redisUri) {
        LockAddress address = new LockAddress(LockAddress.Kind.REDIS, List.of(redisUri));
        return new LockServers() {
            @Override
            public LockAddress address() {
                return address;
            }

            @Override
            public int strike() {
                return 0;
            }

            @Override
            public void close() {}
        };
    }

    /** Five masters that know nothing of each other. Two of them are killed. */
    static LockServers fiveMasters() {
        return new FiveMasters();
    }

    /** A ZooKeeper server in this JVM. Nothing happens to it. */
    static LockServers zooKeeper() {
        return new OneZooKeeper();
    }

    /** ZooKeeper's server. */
    final class OneZooKeeper implements LockServers {

        /** A session lasts at least two of them, and that of the killed shop is to end while you watch. */
        private static final int TICK_MILLIS = 500;

        private final TestingServer server;

        private OneZooKeeper() {
            // Nothing of it is needed after a power cut.
            System.setProperty("zookeeper.forceSync", "no");
            try {
                server = new TestingServer(
                        new InstanceSpec(
                                null, FreePorts.next(), FreePorts.next(), FreePorts.next(), true, -1, TICK_MILLIS, -1),
                        true);
            } catch (Exception e) {
                throw new IllegalStateException("a ZooKeeper server cannot be started: " + e.getMessage(), e);
            }
        }

        @Override
        public LockAddress address() {
            return new LockAddress(LockAddress.Kind.ZOOKEEPER, List.of(server.getConnectString()));
        }

        @Override
        public int strike() {
            return 0;
        }

        @Override
        public void close() {
            try {
                server.close();
            } catch (IOException e) {
                throw new UncheckedIOException("the files of the ZooKeeper server cannot be deleted", e);
            }
        }
    }

    /** Redlock's servers. */
    final class FiveMasters implements LockServers {

        private static final int MASTERS = 5;
        private static final int KILLED = 2;

        private final List<RedisServer> masters = new ArrayList<>();

        private FiveMasters() {
            try {
                while (masters.size() < MASTERS) {
                    masters.add(RedisServer.start());
                }
            } catch (RuntimeException | Error e) {
                close();
                throw e;
            }
        }

        @Override
        public LockAddress address() {
            return new LockAddress(
                    LockAddress.Kind.REDLOCK,
                    masters.stream().map(RedisServer::uri).toList());
        }

        @Override
        public int strike() {
            masters.subList(0, KILLED).forEach(RedisServer::stop);
            return KILLED;
        }

        @Override
        public void close() {
            masters.forEach(RedisServer::close);
        }
    }
}
