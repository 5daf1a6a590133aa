package io.holdfast.proof.hostile;

import static io.holdfast.proof.hostile.FaultKind.CLIENT_FROZEN;
import static io.holdfast.proof.hostile.FaultKind.CLIENT_KILLED;
import static io.holdfast.proof.hostile.FaultKind.CONNECTIONS_REFUSED;
import static io.holdfast.proof.hostile.FaultKind.CUT_IN_MIDSTREAM;
import static io.holdfast.proof.hostile.FaultKind.MASTER_KILLED;
import static io.holdfast.proof.hostile.FaultKind.PROCESSORS_BUSY;
import static io.holdfast.proof.hostile.FaultKind.REQUESTS_DROPPED;
import static io.holdfast.proof.hostile.FaultKind.SERVER_EMPTIED;
import static io.holdfast.proof.hostile.FaultKind.SERVER_FROZEN;
import static io.holdfast.proof.hostile.FaultKind.SERVER_KILLED;
import static io.holdfast.proof.hostile.FaultKind.SERVER_PAUSED;

import org.junit.jupiter.api.Test;

/** A short campaign against one Redis, and one against a master that sentinels replace. */
class RedisHostileIT {

    @Test
    void oneRedisKeepsItsPromisesUnderEachFault() throws InterruptedException {
        ShortCampaign.keepsItsPromises(
                Target.REDIS,
                CLIENT_KILLED,
                CLIENT_FROZEN,
                SERVER_KILLED,
                SERVER_EMPTIED,
                SERVER_FROZEN,
                SERVER_PAUSED,
                REQUESTS_DROPPED,
                CONNECTIONS_REFUSED,
                CUT_IN_MIDSTREAM,
                PROCESSORS_BUSY);
    }

    @Test
    void aFailoverBreaksNoPromise() throws InterruptedException {
        ShortCampaign.keepsItsPromises(Target.SENTINEL, CLIENT_KILLED, CLIENT_FROZEN, MASTER_KILLED);
    }
}
