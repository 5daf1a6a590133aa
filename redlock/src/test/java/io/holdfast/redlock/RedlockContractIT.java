package io.holdfast.redlock;

import io.holdfast.redis.RedisLockBackend;
import io.holdfast.spi.LockBackend;
import io.holdfast.testkit.LockBackendContract;
import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestInstance;

/** The contract over five real servers. {@link RedlockMastersAwayContractIT} has it with one or two of them killed. */
class RedlockContractIT {

    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    abstract static class OverFiveServers implements LockBackendContract {

        private final int killed;
        private final List<RedisServer> servers = new ArrayList<>();
        private final List<RedisClient> observers = new ArrayList<>();
        private final List<StatefulRedisConnection<String, String>> views = new ArrayList<>();
        private RedlockBackend backend;
        private RedlockBackend another;
        private final List<RedlockBackend> further = new ArrayList<>();

        OverFiveServers(int killed) {
            this.killed = killed;
        }

        @BeforeAll
        void start() {
            Stream.generate(RedisServer::start).limit(5).forEach(servers::add);
            backend = made();
            another = made();
            servers.subList(0, killed).forEach(RedisServer::stop);
            for (RedisServer server : servers.subList(killed, 5)) {
                RedisClient observer = RedisClient.create(server.uri());
                observers.add(observer);
                views.add(observer.connect());
            }
        }

        /** Makes a back end with a long time limit, since these tests are not about slow answers. */
        private RedlockBackend made() {
            return RedlockBackend.builder(masters())
                    .masterTimeLimit(Duration.ofSeconds(3))
                    .build();
        }

        private List<LockBackend> masters() {
            return servers.stream()
                    .<LockBackend>map(it -> RedisLockBackend.builder(RedisURI.create(it.uri()))
                            .quarantine(Duration.ZERO)
                            .build())
                    .toList();
        }

        @AfterAll
        void stop() {
            Stream.concat(Stream.of(backend, another), further.stream())
                    .forEach(it -> it.close().toFuture().join());
            views.forEach(StatefulRedisConnection::close);
            observers.forEach(RedisClient::shutdown);
            servers.forEach(RedisServer::close);
        }

        @Override
        public LockBackend backend() {
            return backend;
        }

        @Override
        public LockBackend anotherClient() {
            return another;
        }

        @Override
        public LockBackend newClient() {
            RedlockBackend made = made();
            further.add(made);
            return made;
        }

        /** Sleeps: the time of a real server cannot be set. */
        @Override
        public void passTime(Duration time) {
            try {
                Thread.sleep(time.toMillis());
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public boolean oneOfManyAlwaysWins() {
            return false;
        }

        @Override
        public Set<String> openPoints() {
            return RedlockOpenPoints.LATE_ATTEMPTS;
        }

        /**
         * The last answers of a decided vote may still be under way. So this checks until nothing is left, for a while.
         */
        @Override
        public Collection<String> leftovers() {
            long deadline = System.nanoTime() + Duration.ofSeconds(3).toNanos();
            List<String> left = left();
            while (!left.isEmpty() && System.nanoTime() - deadline < 0) {
                passTime(Duration.ofMillis(2));
                left = left();
            }
            return left;
        }

        private List<String> left() {
            Stream<String> keys = views.stream().flatMap(it -> Records.leftovers(it.sync()).stream());
            Stream<String> candidates = Stream.concat(Stream.of(backend, another), further.stream())
                    .filter(it -> it.claimCount() > 0)
                    .map(it -> it.claimCount() + " candidates");
            return Stream.concat(keys, candidates).toList();
        }
    }

    @Nested
    @DisplayName("all up")
    class AllUp extends OverFiveServers {
        AllUp() {
            super(0);
        }
    }
}
