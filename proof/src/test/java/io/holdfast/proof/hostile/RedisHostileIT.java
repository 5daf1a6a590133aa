package io.holdfast.proof.hostile;

import static io.holdfast.proof.hostile.FaultKind.CLIENTS_LIMITED;
import static io.holdfast.proof.hostile.FaultKind.CLIENT_CUT_OFF;
import static io.holdfast.proof.hostile.FaultKind.CLIENT_FROZEN;
import static io.holdfast.proof.hostile.FaultKind.CLIENT_KILLED;
import static io.holdfast.proof.hostile.FaultKind.CONNECTIONS_REFUSED;
import static io.holdfast.proof.hostile.FaultKind.CROWD_CUT_OFF;
import static io.holdfast.proof.hostile.FaultKind.CUT_IN_MIDSTREAM;
import static io.holdfast.proof.hostile.FaultKind.MASTER_DEMOTED;
import static io.holdfast.proof.hostile.FaultKind.PASSWORD_ROTATED;
import static io.holdfast.proof.hostile.FaultKind.REQUESTS_DROPPED;
import static io.holdfast.proof.hostile.FaultKind.SCRIPTS_FLUSHED;
import static io.holdfast.proof.hostile.FaultKind.SERVER_EMPTIED;
import static io.holdfast.proof.hostile.FaultKind.SERVER_FROZEN;
import static io.holdfast.proof.hostile.FaultKind.SERVER_KILLED;
import static io.holdfast.proof.hostile.FaultKind.TENANT_PUBLISHES;

import org.junit.jupiter.api.Test;

/** A short campaign against one Redis. */
class RedisHostileIT {

    @Test
    void oneRedisKeepsItsPromisesUnderEachFault() throws Exception {
        ShortCampaign.keepsItsPromises(
                Target.REDIS,
                CLIENT_KILLED,
                CLIENT_FROZEN,
                SERVER_KILLED,
                SERVER_EMPTIED,
                SERVER_FROZEN,
                REQUESTS_DROPPED,
                CLIENT_CUT_OFF,
                CONNECTIONS_REFUSED,
                CUT_IN_MIDSTREAM,
                MASTER_DEMOTED,
                SCRIPTS_FLUSHED,
                CLIENTS_LIMITED,
                PASSWORD_ROTATED,
                TENANT_PUBLISHES,
                CROWD_CUT_OFF);
    }
}
