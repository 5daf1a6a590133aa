package io.holdfast.r2dbc;

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
}
