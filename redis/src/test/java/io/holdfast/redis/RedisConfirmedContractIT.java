package io.holdfast.redis;

import io.holdfast.spi.LockBackend;
import io.holdfast.testkit.LockBackendContract;
import io.holdfast.testkit.server.RedisReplicas;
import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

/** The contract of a back end, when a replica has to confirm every grant; with the other option of the builder too. */
class RedisConfirmedContractIT implements LockBackendContract {

    private static final Duration CLAIM_TIME = Duration.ofMillis(500);

    private static RedisReplicas servers;
    private static Store store;
    private static RedisLockBackend backend;
    private static RedisLockBackend another;

    private final FurtherClients clients = new FurtherClients();

    @BeforeAll
    static void start() {
        servers = RedisReplicas.start(1);
        store = Store.observing(servers.master());
        backend = confirming();
        another = confirming();
    }

    private static RedisLockBackend confirming() {
        return RedisLockBackend.builder(store.uri())
                .claimTime(CLAIM_TIME)
                .confirmGrants(1, Duration.ofSeconds(1))
                .lossByPush(true)
                .build();
    }

    @AfterAll
    static void stop() {
        Store.end(backend);
        Store.end(another);
        store.stopObserving();
        servers.close();
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
        return clients.add(confirming());
    }

    @AfterEach
    void endFurtherClients() {
        clients.close();
    }

    @Override
    public Duration claimTime() {
        return CLAIM_TIME;
    }

    /** A pushed grant becomes a signal of a change: the attempt that follows is confirmed. */
    @Override
    public boolean pushesGrants() {
        return false;
    }

    /** The confirmation of a grant also renews it. */
    @Override
    public Set<String> openPoints() {
        return Set.of("overtakenAttemptOfAHolderSetsNoNewExpiry");
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
