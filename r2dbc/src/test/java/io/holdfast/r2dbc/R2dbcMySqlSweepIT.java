package io.holdfast.r2dbc;

class R2dbcMySqlSweepIT extends R2dbcSweepIT {

    @Override
    Store newStore() {
        return Store.withSchema(MariaDbStore.mySql());
    }
}
