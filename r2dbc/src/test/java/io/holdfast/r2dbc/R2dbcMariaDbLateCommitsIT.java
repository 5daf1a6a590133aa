package io.holdfast.r2dbc;

class R2dbcMariaDbLateCommitsIT extends R2dbcLateCommitsIT {

    @Override
    Store newStore() {
        return Store.withSchema(MariaDbStore.mariaDb(MariaDbStore.SYNCHRONOUS));
    }
}
