package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.R2dbcException;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** PostgreSQL refuses a check that a rollback to a savepoint would undo. */
class FenceSavepointsIT {

    private static Store store;
    private static R2dbcLockBackend backend;
    private static LockClient locks;

    private LockLease lease;
    private Connection data;
    private Connection other;

    @BeforeAll
    static void start() {
        store = Store.start();
        store.execute("create table stock (item integer primary key)");
        backend = R2dbcLockBackend.create(store.connections());
        locks = LockClient.create(backend);
    }

    @AfterAll
    static void stop() {
        run(locks.close());
        Store.end(backend);
        store.close();
    }

    @BeforeEach
    void open() {
        lease = run(locks.lock("savepoints/" + UUID.randomUUID()).acquire());
        data = store.connect();
        other = store.connect();
        run(data.beginTransaction());
        run(other.beginTransaction());
    }

    @AfterEach
    void close() {
        run(data.close());
        run(other.close());
        run(lease.release());
    }

    @Test
    void checkInsideASavepointIsRefused() {
        run(data.createSavepoint("before"));
        assertRefused();
    }

    @Test
    void checkInsideASavepointOfATransactionThatHasWrittenIsRefused() {
        run(FenceIT.statement(data, "insert into stock values (1)"));
        run(data.createSavepoint("before"));
        run(data.createSavepoint("within"));
        run(FenceIT.statement(data, "insert into stock values (2)"));
        assertRefused();
    }

    /** Then the row of the lock does not show which of the two transactions has locked it. */
    @Test
    void checkInsideASavepointBesideAnotherFencedTransactionIsRefused() {
        run(Fence.check(other, lease));
        run(data.createSavepoint("before"));
        assertRefused();
    }

    @Test
    void checkInAnExceptionBlockIsRefused() {
        assertThatThrownBy(() -> run(FenceIT.statement(data, """
                        do $$ begin
                          perform holdfast_fence_v1('%s', %d);
                          insert into stock values (1);
                        exception when unique_violation then
                          update stock set item = 2;
                        end $$""".formatted(lease.lockName(), lease.fencingToken()))))
                .isInstanceOfSatisfying(
                        R2dbcException.class,
                        error -> assertThat(error.getSqlState()).isEqualTo("HF002"))
                .hasMessageContaining("outside of savepoints, nested transactions and EXCEPTION blocks");
    }

    @Test
    void checkBesideAnotherFencedTransactionPasses() {
        run(Fence.check(other, lease));
        run(Fence.check(data, lease));
        run(Fence.check(other, lease));
    }

    @Test
    void checkAfterTheEndOfSavepointsPassesBesideAnotherFencedTransaction() {
        run(data.createSavepoint("kept"));
        run(FenceIT.statement(data, "insert into stock values (3)"));
        run(data.releaseSavepoint("kept"));
        run(data.createSavepoint("undone"));
        run(FenceIT.statement(data, "insert into stock values (4)"));
        run(data.rollbackTransactionToSavepoint("undone"));
        run(data.releaseSavepoint("undone"));
        run(Fence.check(other, lease));
        run(Fence.check(data, lease));
    }

    private void assertRefused() {
        assertThatThrownBy(() -> run(Fence.check(data, lease)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("savepoint")
                .hasMessageContaining(lease.lockName());
    }

    @CanIgnoreReturnValue
    private static <T> T run(Publisher<T> work) {
        return Mono.from(work).block(Store.PATIENCE);
    }
}
