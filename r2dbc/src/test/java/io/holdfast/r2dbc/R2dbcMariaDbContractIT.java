package io.holdfast.r2dbc;

class R2dbcMariaDbContractIT extends R2dbcLockBackendContractIT {

    @Override
    Store newStore() {
        return Store.withSchema(MariaDbStore.mariaDb());
    }
}
