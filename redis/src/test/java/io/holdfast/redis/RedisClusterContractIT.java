package io.holdfast.redis;

import io.holdfast.spi.LockBackend;
import io.holdfast.testkit.LockBackendContract;
import io.holdfast.testkit.server.RedisCluster;
import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;

/** The contract, on three masters. */
class RedisClusterContractIT implements LockBackendContract {

    private static final Duration CLAIM_TIME = Duration.ofMillis(500);

    private static RedisCluster cluster;
    private static List<Store> stores;
    private static RedisLockBackend backend;
    private static RedisLockBackend another;

    /** Its claim time is long, see {@link RedisLockBackendContractIT}. */
    private static RedisLockBackend counted;

    /** Whether the test counts the work of ways out. */
    private boolean isCounting;

    /** Does not know the masters yet, in the test that needs such a client. */
    private @Nullable LockBackend cold;

    private final FurtherClients clients = new FurtherClients();

    @BeforeAll
    static void start() {
        cluster = RedisCluster.start();
        stores = cluster.masters().stream().map(Store::observing).toList();
        backend = client();
        another = client();
        counted = countedClient().build();
    }

    @BeforeEach
    void note(TestInfo test) {
        isCounting = test.getTestMethod()
                .filter(it -> it.getDeclaringClass().getSimpleName().equals("WaysOutContract"))
                .isPresent();
        cold = test.getTestMethod()
                .filter(it -> it.getName().equals("attemptsThatDoNotWaitForAnswersTakeTheirPlacesInTheirOrder"))
                .map(it -> newClient())
                .orElse(null);
    }

    private static RedisLockBackend client() {
        return builder().claimTime(CLAIM_TIME).build();
    }

    private static RedisLockBackend.Builder countedClient() {
        return builder().claimTime(Duration.ofSeconds(20));
    }

    private static RedisLockBackend.Builder builder() {
        List<RedisURI> seeds = cluster.masters().stream()
                .map(RedisServer::uri)
                .map(RedisURI::create)
                .toList();
        return RedisLockBackend.clusterBuilder(seeds.subList(0, 1));
    }

    @AfterAll
    static void stop() {
        Store.end(backend);
        Store.end(another);
        Store.end(counted);
        stores.forEach(Store::stopObserving);
        cluster.close();
    }

    @Override
    public LockBackend backend() {
        LockBackend used = isCounting ? counted : backend;
        return cold == null ? used : cold;
    }

    @Override
    public LockBackend anotherClient() {
        return another;
    }

    @Override
    public LockBackend newClient() {
        return clients.add(client());
    }

    @AfterEach
    void endFurtherClients() {
        clients.close();
    }

    @Override
    public LockBackend clientWithLimit(int maxWaiters) {
        return clients.add(countedClient().maxWaiters(maxWaiters).build());
    }

    @Override
    public long serverWork() {
        return stores.stream().mapToLong(Store::serverWork).sum();
    }

    @Override
    public Duration claimTime() {
        return CLAIM_TIME;
    }

    /** Sleeps: the time of a real server cannot be set. */
    @Override
    public void passTime(Duration time) {
        ClientOverRedis.pause(time);
    }

    @Override
    public Collection<String> leftovers() {
        Stream<String> keys = stores.stream().flatMap(store -> store.leftovers().stream());
        Stream<String> watches = Stream.of(backend, another, counted)
                .filter(it -> it.operations().watchCount() > 0)
                .map(it -> it.operations().watchCount() + " watches");
        return Stream.concat(keys, watches).toList();
    }
}
