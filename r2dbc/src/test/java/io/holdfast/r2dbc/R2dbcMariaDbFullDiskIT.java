package io.holdfast.r2dbc;

import java.util.List;

class R2dbcMariaDbFullDiskIT extends R2dbcFullDiskIT {

    @Override
    Store newStore() {
        return Store.withSchema(MariaDbStore.mariaDb());
    }

    /** The users of these tests may write to a read-only server. */
    @Override
    List<Refusal> refusals() {
        return List.of(Refusal.DISK_FULL);
    }
}
