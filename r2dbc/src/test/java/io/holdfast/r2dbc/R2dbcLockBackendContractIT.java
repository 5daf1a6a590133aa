package io.holdfast.r2dbc;

import io.holdfast.LockInspector;
import io.holdfast.spi.LockBackend;
import io.holdfast.testkit.LockBackendContract;
import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
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

    /** Creates the database; PostgreSQL in this class. */
    Store newStore() {
        return Store.start();
    }

    @BeforeAll
    void start() {
        store = newStore();
        backend = R2dbcLockBackend.builder(store.connections())
                .claimTime(CLAIM_TIME)
                .build();
        another = R2dbcLockBackend.builder(store.connections())
                .claimTime(CLAIM_TIME)
                .build();
        inspector = R2dbcLockBackend.builder(store.connections())
                .claimTime(CLAIM_TIME)
                .inspector();
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

    @Override
    public LockInspector inspector() {
        return inspector;
    }

    @Override
    public Duration claimTime() {
        return CLAIM_TIME;
    }

    @Override
    public Set<String> openPoints() {
        return Set.of(
                "claimOfAMutexBehindAVanishedClientIsServedInTime",
                "claimOfAMutexBehindFiveVanishedClientsIsServedInTime",
                "claimOfASemaphoreBehindAVanishedClientIsServedInTime",
                "claimOfASemaphoreBehindFiveVanishedClientsIsServedInTime",
                "clientThatLostOneAnswerToAClaimOfAMutexIsTrustedAgain",
                "clientThatLostOneAnswerToAClaimOfASemaphoreIsTrustedAgain",
                "clientThatLostOneAnswerToAWriterIsTrustedAgain",
                "writerBehindWritersOfAVanishedClientIsServedInTime",
                "writerBehindWritersOfFiveVanishedClientsIsServedInTime");
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
