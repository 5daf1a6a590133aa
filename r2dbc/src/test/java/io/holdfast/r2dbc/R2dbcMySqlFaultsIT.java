package io.holdfast.r2dbc;

class R2dbcMySqlFaultsIT extends R2dbcFaultsIT {

    @Override
    Store newStore() {
        return Store.withSchema(MariaDbStore.mySql());
    }
}
