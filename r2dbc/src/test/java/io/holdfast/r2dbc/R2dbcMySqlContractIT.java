package io.holdfast.r2dbc;

class R2dbcMySqlContractIT extends R2dbcLockBackendContractIT {

    @Override
    Store newStore() {
        return Store.withSchema(MariaDbStore.mySql());
    }
}
