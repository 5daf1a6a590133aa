package io.holdfast.examples.flashsale;

import io.holdfast.testkit.server.RedisServer;
import java.util.ArrayList;
import java.util.List;

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
