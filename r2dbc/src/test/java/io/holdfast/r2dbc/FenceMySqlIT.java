package io.holdfast.r2dbc;

/** As on MariaDB, with MySQL's own statement. */
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
