package io.holdfast.redis;

import io.holdfast.LockInspector;
import io.holdfast.spi.LockBackend;
import io.holdfast.testkit.LockBackendContract;
import java.time.Duration;
import java.util.Collection;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;

class RedisLockBackendContractIT implements LockBackendContract {

    /** Short, since the contract waits for it with a real clock. */
    private static final Duration CLAIM_TIME = Duration.ofMillis(500);

    private static Store store;
    private static RedisLockBackend backend;
    private static RedisLockBackend another;

    /** Its claim time is long: the usual way of a hand-off is only for holds below a twentieth of it, on a busy machine too. */
    private static RedisLockBackend counted;

    private static RedisLockInspector inspector;

    private final FurtherClients clients = new FurtherClients();

    /** Whether the test counts the work of ways out. */
    private boolean isCounting;

    @BeforeAll
    static void start() {
        store = Store.start();
        backend = RedisLockBackend.builder(store.uri()).claimTime(CLAIM_TIME).build();
        another = RedisLockBackend.builder(store.uri()).claimTime(CLAIM_TIME).build();
        counted = countedClient().build();
        inspector = RedisLockBackend.builder(store.uri()).claimTime(CLAIM_TIME).inspector();
    }

    private static RedisLockBackend.Builder countedClient() {
        return RedisLockBackend.builder(store.uri()).claimTime(Duration.ofSeconds(20));
    }

    @BeforeEach
    void note(TestInfo test) {
        isCounting = test.getTestMethod()
                .filter(it -> it.getDeclaringClass().getSimpleName().equals("WaysOutContract"))
                .isPresent();
    }

    @AfterAll
    static void stop() {
        Store.end(backend);
        Store.end(counted);
        Store.end(another);
        Store.answer(inspector.close());
        store.close();
    }

    @Override
    public LockBackend backend() {
        return isCounting ? counted : backend;
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
        return clients.add(countedClient().maxWaiters(maxWaiters).build());
    }

    @Override
    public long serverWork() {
        return store.serverWork();
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
        Stream<String> watches = Stream.of(backend, another, counted)
                .filter(it -> it.operations().watchCount() > 0)
                .map(it -> it.operations().watchCount() + " watches");
        return Stream.concat(keys, watches).toList();
    }
}
