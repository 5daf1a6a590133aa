package io.holdfast.r2dbc;

import io.holdfast.LockLease;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.IsolationLevel;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

class FenceMariaDbIT extends FenceIT {

    @Override
    Store newStore() {
        return Store.withSchema(MariaDbStore.mariaDb());
    }

    /** At SERIALIZABLE, InnoDB locks the rows that are read, so the other writers of these tests would wait. */
    @Override
    List<String> isolations() {
        return List.of("READ COMMITTED", "REPEATABLE READ");
    }

    /** A round trip takes longer than in PostgreSQL. */
    @Override
    Duration tinyLease() {
        return Duration.ofMillis(100);
    }

    @Override
    int rounds() {
        return 5;
    }

    @Override
    String sql() {
        return Fence.sql("MariaDB");
    }

    @Override
    List<String> twoPhases(String id) {
        return Stream.of("xa start '%s'", "xa end '%s'", "xa prepare '%s'", "xa commit '%s'")
                .map(step -> step.formatted(id))
                .toList();
    }

    /** A check for JDBC changes the row of the fence. */
    @Override
    void conflict(Connection one, String item, long token) {
        run(statement(one, "set innodb_snapshot_isolation = on"));
        run(one.setTransactionIsolationLevel(IsolationLevel.REPEATABLE_READ));
        run(one.beginTransaction());
        run(statement(one, "select sum(amount) from stock"));
        store.execute("call holdfast_fence_v1('%s', %d, false)".formatted(item, token));
    }

    /** A check for JDBC does so. The server undoes the transaction that has changed fewer rows. */
    @Override
    void lockTheRowOfTheCheck(Connection in, LockLease lease) {
        run(statement(
                in,
                "insert into stock select concat('%s/', n), 0 from (select 1 n union select 2 union select 3 union select 4) more"
                        .formatted(lease.lockName())));
        run(statement(in, "call holdfast_fence_v1('%s', %d, false)".formatted(lease.lockName(), lease.fencingToken())));
    }
}
