package io.holdfast.proof.hostile;

import static io.holdfast.proof.hostile.FaultKind.ANSWERS_DROPPED;
import static io.holdfast.proof.hostile.FaultKind.BYTES_DELAYED;
import static io.holdfast.proof.hostile.FaultKind.CLIENT_FROZEN;
import static io.holdfast.proof.hostile.FaultKind.CLIENT_KILLED;
import static io.holdfast.proof.hostile.FaultKind.CONNECTIONS_RESET;
import static io.holdfast.proof.hostile.FaultKind.FOLLOWER_FROZEN;
import static io.holdfast.proof.hostile.FaultKind.LEADER_KILLED;
import static io.holdfast.proof.hostile.FaultKind.MAJORITY_EMPTIED;
import static io.holdfast.proof.hostile.FaultKind.SERVER_EMPTIED;
import static io.holdfast.proof.hostile.FaultKind.SERVER_FROZEN;

import org.junit.jupiter.api.Test;

/** A short campaign against five servers of a Redlock, and one against an ensemble of three. */
class QuorumHostileIT {

    @Test
    void redlockKeepsItsPromisesUnderEachFault() throws InterruptedException {
        ShortCampaign.keepsItsPromises(
                Target.REDLOCK,
                CLIENT_KILLED,
                CLIENT_FROZEN,
                SERVER_EMPTIED,
                MAJORITY_EMPTIED,
                SERVER_FROZEN,
                ANSWERS_DROPPED,
                CONNECTIONS_RESET);
    }

    @Test
    void zooKeeperKeepsItsPromisesUnderEachFault() throws InterruptedException {
        ShortCampaign.keepsItsPromises(
                Target.ZOOKEEPER,
                CLIENT_KILLED,
                CLIENT_FROZEN,
                LEADER_KILLED,
                FOLLOWER_FROZEN,
                CONNECTIONS_RESET,
                BYTES_DELAYED);
    }
}
