package io.holdfast.redis;

import io.holdfast.LockInspector;
import io.holdfast.spi.LockBackend;
import io.holdfast.testkit.LockBackendContract;
import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

class RedisLockBackendContractIT implements LockBackendContract {

    /** Short, since the contract waits for it with a real clock. */
    private static final Duration CLAIM_TIME = Duration.ofMillis(500);

    private static Store store;
    private static RedisLockBackend backend;
    private static RedisLockBackend another;
    private static RedisLockInspector inspector;

    private final FurtherClients clients = new FurtherClients();

    @BeforeAll
    static void start() {
        store = Store.start();
        backend = RedisLockBackend.builder(store.uri()).claimTime(CLAIM_TIME).build();
        another = RedisLockBackend.builder(store.uri()).claimTime(CLAIM_TIME).build();
        inspector = RedisLockBackend.builder(store.uri()).claimTime(CLAIM_TIME).inspector();
    }

    @AfterAll
    static void stop() {
        Store.end(backend);
        Store.end(another);
        Store.answer(inspector.close());
        store.close();
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
    public LockInspector inspector() {
        return inspector;
    }

    @Override
    public LockBackend newClient() {
        return clients.add(
                RedisLockBackend.builder(store.uri()).claimTime(CLAIM_TIME).build());
    }

    @AfterEach
    void endFurtherClients() {
        clients.close();
    }

    @Override
    public LockBackend clientWithLimit(int maxWaiters) {
        return clients.add(RedisLockBackend.builder(store.uri())
                .claimTime(CLAIM_TIME)
                .maxWaiters(maxWaiters)
                .build());
    }

    @Override
    public Set<String> openPoints() {
        return RedisOpenPoints.OF_THE_SERVER;
    }

    @Override
    public Duration claimTime() {
        return CLAIM_TIME;
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
    public Collection<String> leftovers() {
        Stream<String> keys = store.leftovers().stream();
        Stream<String> watches = Stream.of(backend, another)
                .filter(it -> it.operations().watchCount() > 0)
                .map(it -> it.operations().watchCount() + " watches");
        return Stream.concat(keys, watches).toList();
    }
}
