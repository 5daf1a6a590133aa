package io.holdfast.r2dbc;

class R2dbcMariaDbLockedRowsIT extends R2dbcLockedRowsIT {

    @Override
    Store newStore() {
        return Store.withSchema(MariaDbStore.mariaDb());
    }
}
