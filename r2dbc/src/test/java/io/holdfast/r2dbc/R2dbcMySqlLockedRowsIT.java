package io.holdfast.r2dbc;

class R2dbcMySqlLockedRowsIT extends R2dbcLockedRowsIT {

    @Override
    Store newStore() {
        return Store.withSchema(MariaDbStore.mySql());
    }
}
