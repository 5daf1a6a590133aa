package io.holdfast.r2dbc;

class R2dbcMySqlErrorsIT extends R2dbcMariaDbErrorsIT {

    @Override
    Store newStore() {
        return MariaDbStore.mySql();
    }
}
