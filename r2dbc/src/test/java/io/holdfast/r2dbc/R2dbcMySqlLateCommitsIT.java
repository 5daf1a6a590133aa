package io.holdfast.r2dbc;

class R2dbcMySqlLateCommitsIT extends R2dbcLateCommitsIT {

    @Override
    Store newStore() {
        return Store.withSchema(MariaDbStore.mySql(MariaDbStore.SYNCHRONOUS));
    }
}
