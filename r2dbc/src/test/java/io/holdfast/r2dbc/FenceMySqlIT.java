package io.holdfast.r2dbc;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.r2dbc.spi.Connection;

/** The tests of MariaDB with the statement of MySQL. */
class FenceMySqlIT extends FenceMariaDbIT {

    @Override
    Store newStore() {
        return Store.withSchema(MariaDbStore.mySql());
    }

    @Override
    String sql() {
        return Fence.sql("MySQL");
    }

    @Override
    void conflict(Connection one, String item, long token) {
        assumeTrue(false, "MySQL has no error of a changed row");
    }
}
