package io.holdfast.r2dbc;

import io.holdfast.LockInspector;
import io.holdfast.spi.LockBackend;
import io.holdfast.testkit.LockBackendContract;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/** The contract on PostgreSQL. Each other database has a subclass. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class R2dbcLockBackendContractIT implements LockBackendContract {

    /** Short, since the contract waits for it with a real clock. */
    private static final Duration CLAIM_TIME = Duration.ofMillis(500);

    private Store store;
    private R2dbcLockBackend backend;
    private R2dbcLockBackend another;
    private R2dbcLockInspector inspector;

    /** Those of the present test. */
    private final List<R2dbcLockBackend> vanishing = new ArrayList<>();

    /** Creates the database; PostgreSQL in this class. */
    Store newStore() {
        return Store.start();
    }

    @BeforeAll
    void start() {
        store = newStore();
        store.countWork();
        backend = client();
        another = client();
        inspector = R2dbcLockBackend.builder(store.connections())
                .claimTime(CLAIM_TIME)
                .inspector();
    }

    private R2dbcLockBackend client() {
        return R2dbcLockBackend.builder(store.connections())
                .claimTime(CLAIM_TIME)
                .build();
    }

    @AfterEach
    void endVanished() {
        vanishing.forEach(Store::end);
        vanishing.clear();
    }

    @AfterAll
    void stop() {
        Store.end(backend);
        Store.end(another);
        if (store != null) {
            store.close();
        }
    }

    @Override
    public LockBackend backend() {
        return backend;
    }

    @Override
    public LockBackend anotherClient() {
        return another;
    }

    /** Its connections stay open, and it gives signs of life by itself, as after the loss of a notification. */
    @Override
    public LockBackend newClient() {
        vanishing.add(client());
        return vanishing.get(vanishing.size() - 1);
    }

    @Override
    public long serverWork() {
        return store.work();
    }

    @Override
    public LockInspector inspector() {
        return inspector;
    }

    @Override
    public Duration claimTime() {
        return CLAIM_TIME;
    }

    /** Waits for real: a test cannot advance the time of a real server. */
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
        Stream<String> rows = store.leftovers().stream();
        Stream<String> watches = Stream.of(backend, another)
                .filter(it -> it.operations().watchCount() > 0)
                .map(it -> it.operations().watchCount() + " watches");
        return Stream.concat(rows, watches).toList();
    }
}
