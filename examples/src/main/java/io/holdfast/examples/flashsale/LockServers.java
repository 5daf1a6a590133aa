package io.holdfast.examples.flashsale;

import io.holdfast.testkit.server.RedisServer;
import java.util.ArrayList;
import java.util.List;

/** The servers of the lock. Some of them are killed half way through the sale. */
interface LockServers extends AutoCloseable {

    LockAddress address();

    /** Half of the buyers have an answer. Kills some servers, if this sale is to lose some, and returns their number. */
    int strike();

    @Override
    void close();

    /** The Redis that has the stock has the lock, too. It is not killed. */
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

    /** Five independent masters. Two of them are killed. */
    static LockServers fiveMasters() {
        return new FiveMasters();
    }

    /** A ZooKeeper server in this JVM. It is not killed. */
    static LockServers zooKeeper() {
        return new OneZooKeeper();
    }

    /** The masters of Redlock. */
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
