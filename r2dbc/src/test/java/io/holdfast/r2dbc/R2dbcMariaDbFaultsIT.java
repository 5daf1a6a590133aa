package io.holdfast.r2dbc;

class R2dbcMariaDbFaultsIT extends R2dbcFaultsIT {

    @Override
    Store newStore() {
        return Store.withSchema(MariaDbStore.mariaDb());
    }
}
