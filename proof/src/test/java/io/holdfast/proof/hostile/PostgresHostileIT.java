package io.holdfast.proof.hostile;

import static io.holdfast.proof.hostile.FaultKind.CLIENT_FROZEN;
import static io.holdfast.proof.hostile.FaultKind.CONNECTIONS_ENDED;
import static io.holdfast.proof.hostile.FaultKind.FROZEN_PRIMARY_REPLACED;
import static io.holdfast.proof.hostile.FaultKind.REQUESTS_DROPPED;
import static io.holdfast.proof.hostile.FaultKind.SERVER_FROZEN;
import static io.holdfast.proof.hostile.FaultKind.SERVER_KILLED;

import org.junit.jupiter.api.Test;

/** A short campaign against a PostgreSQL and its replica. */
class PostgresHostileIT {

    @Test
    void postgreSqlKeepsItsPromisesUnderEachFault() throws Exception {
        ShortCampaign.keepsItsPromises(
                Target.POSTGRESQL,
                CLIENT_FROZEN,
                SERVER_KILLED,
                SERVER_FROZEN,
                FROZEN_PRIMARY_REPLACED,
                CONNECTIONS_ENDED,
                REQUESTS_DROPPED);
    }
}
