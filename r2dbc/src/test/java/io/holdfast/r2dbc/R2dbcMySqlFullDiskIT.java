package io.holdfast.r2dbc;

class R2dbcMySqlFullDiskIT extends R2dbcMariaDbFullDiskIT {

    @Override
    Store newStore() {
        return Store.withSchema(MariaDbStore.mySql());
    }
}
