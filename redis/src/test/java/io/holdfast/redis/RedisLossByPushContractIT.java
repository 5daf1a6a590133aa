package io.holdfast.redis;

import io.holdfast.spi.LockBackend;
import io.holdfast.testkit.LockBackendContract;
import java.time.Duration;
import java.util.Collection;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

/** The contract of a back end, when the server signals keys that are gone. */
class RedisLossByPushContractIT implements LockBackendContract {

    /** Short, since the contract waits for it with a real clock. */
    private static final Duration CLAIM_TIME = Duration.ofMillis(500);

    private static Store store;
    private static RedisLockBackend backend;
    private static RedisLockBackend another;

    private final FurtherClients clients = new FurtherClients();

    @BeforeAll
    static void start() {
        store = Store.start();
        backend = RedisLockBackend.builder(store.uri())
                .claimTime(CLAIM_TIME)
                .lossByPush(true)
                .build();
        another = RedisLockBackend.builder(store.uri())
                .claimTime(CLAIM_TIME)
                .lossByPush(true)
                .build();
    }

    @AfterAll
    static void stop() {
        Store.end(backend);
        Store.end(another);
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
    public LockBackend newClient() {
        return clients.add(RedisLockBackend.builder(store.uri())
                .claimTime(CLAIM_TIME)
                .lossByPush(true)
                .build());
    }

    @AfterEach
    void endFurtherClients() {
        clients.close();
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
        Stream<String> watched = Stream.of(backend, another)
                .filter(it -> it.operations().watchedKeys() > 0)
                .map(it -> it.operations().watchedKeys() + " keys that the server watches");
        return Stream.of(keys, watches, watched).flatMap(it -> it).toList();
    }
}
