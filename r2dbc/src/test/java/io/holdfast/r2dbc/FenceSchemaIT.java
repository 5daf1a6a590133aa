package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.Result;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** The tables are in a schema of their own, which the connection of the data does not look in. */
class FenceSchemaIT {

    private static Store store;

    @BeforeAll
    static void start() {
        store = Store.empty();
    }

    @AfterAll
    static void stop() {
        store.close();
    }

    /** An application may set the search path per tenant. */
    @Test
    void fenceOfASchemaThatIsNotOnTheSearchPath() {
        String schema = "ten\"ant; drop";
        store.execute(
                "create schema \"ten\"\"ant; drop\"",
                "set search_path = \"ten\"\"ant; drop\"",
                Store.schema(),
                "set search_path = public");
        R2dbcLockBackend backend =
                R2dbcLockBackend.builder(store.connections()).schema(schema).build();
        LockClient locks = LockClient.create(backend);
        LockLease lease = run(locks.lock("a").acquire());
        Connection data = store.connect();
        run(data.beginTransaction());
        run(Fence.check(data, lease, schema));
        run(data.commitTransaction());
        assertThat(Fence.sql("PostgreSQL", schema))
                .isEqualTo("select \"ten\"\"ant; drop\".holdfast_fence_v1(cast(? as text), cast(? as bigint), false)");

        run(data.beginTransaction());
        assertThatThrownBy(() -> run(Fence.check(data, lease)))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("cannot find holdfast_fence_v1");
        run(data.close());
        run(lease.release());
        run(locks.close());
        Store.end(backend);
    }

    /** Functions and operators of another user that match the types better. */
    @Test
    void fenceRunsNoCodeThatAnotherUserHasAddedToItsSchema() {
        store.execute(
                "create schema open_schema",
                "set search_path = open_schema",
                Store.schema(),
                "create function run_code(bigint, integer) returns bigint language plpgsql as 'begin raise exception ''my code''; end'",
                "create operator % (function = run_code, leftarg = bigint, rightarg = integer)",
                "create function holdfast_fence_v1(varchar, bigint) returns boolean language sql as 'select true'",
                "create function holdfast_fence_v1(varchar, bigint, boolean) returns boolean language sql as 'select true'",
                "create function holdfast_fence_v1(varchar, integer) returns boolean language sql as 'select true'");
        Connection data = store.connect();
        run(data.beginTransaction());
        assertThatThrownBy(() -> run(Mono.from(data.createStatement(Fence.sql("PostgreSQL", "open_schema")
                                        .replaceFirst("[?]", "\\$1")
                                        .replaceFirst("[?]", "\\$2"))
                                .bind("$1", "a")
                                .bind("$2", 4L)
                                .execute())
                        .flatMapMany(Result::getRowsUpdated)
                        .then()))
                .hasMessageContaining("does not have the lease with token 4");
        run(data.close());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "locks\0"})
    void schemaThatCannotBeANameIsRefused(String schema) {
        assertThatThrownBy(() -> Fence.sql("MariaDB", schema))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("schema must not be blank");
    }

    @Test
    void marksInTheNameOfADatabaseAreDoubled() {
        assertThat(Fence.sql("MariaDB", "lo`cks")).isEqualTo("call `lo``cks`.holdfast_fence_v1(?, ?, false)");
    }

    /** The rights are those of docs/operate/databases.md, with public replaced by the schema. */
    @Test
    void userWithTheDocumentedRightsPassesTheFenceWithHardenedDefaults() {
        store.execute(
                "create role shop login",
                "create schema locks",
                "set search_path = locks",
                "alter default privileges revoke execute on functions from public",
                Store.schema(),
                "grant select, insert, update, delete on holdfast_lock, holdfast_waiter, holdfast_tombstone to shop",
                "grant select, update on holdfast_schema to shop",
                "grant usage on schema locks to shop",
                "grant execute on all routines in schema locks to shop");
        R2dbcLockBackend backend = R2dbcLockBackend.builder(store.connections("shop"))
                .schema("locks")
                .build();
        LockClient locks = LockClient.create(backend);
        LockLease lease = run(locks.lock("a").acquire());
        Connection data = run(store.connections("shop").create());
        run(data.beginTransaction());
        run(Fence.check(data, lease, "locks"));
        run(data.close());
        run(lease.release());
        run(locks.close());
        Store.end(backend);
    }

    @CanIgnoreReturnValue
    private static <T> T run(Publisher<? extends T> work) {
        return Mono.<T>from(work).block(Store.PATIENCE);
    }
}
