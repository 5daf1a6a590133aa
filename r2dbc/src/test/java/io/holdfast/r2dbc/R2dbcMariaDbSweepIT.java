package io.holdfast.r2dbc;

class R2dbcMariaDbSweepIT extends R2dbcSweepIT {

    @Override
    Store newStore() {
        return Store.withSchema(MariaDbStore.mariaDb());
    }
}
