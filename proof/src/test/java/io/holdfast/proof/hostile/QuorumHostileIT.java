package io.holdfast.proof.hostile;

import static io.holdfast.proof.hostile.FaultKind.ANSWERS_DROPPED;
import static io.holdfast.proof.hostile.FaultKind.CLIENT_CUT_OFF;
import static io.holdfast.proof.hostile.FaultKind.CLIENT_FROZEN;
import static io.holdfast.proof.hostile.FaultKind.COMPACTED;
import static io.holdfast.proof.hostile.FaultKind.CONNECTIONS_RESET;
import static io.holdfast.proof.hostile.FaultKind.LEADER_KILLED;
import static io.holdfast.proof.hostile.FaultKind.MAJORITY_EMPTIED;
import static io.holdfast.proof.hostile.FaultKind.SERVER_EMPTIED;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.testkit.server.EtcdServer;
import org.junit.jupiter.api.Test;

/** A short campaign against five servers of a Redlock, one against an ensemble of three, and one against an etcd of three. */
class QuorumHostileIT {

    @Test
    void redlockKeepsItsPromisesUnderEachFault() throws Exception {
        ShortCampaign.keepsItsPromises(
                Target.REDLOCK,
                CLIENT_FROZEN,
                CLIENT_CUT_OFF,
                SERVER_EMPTIED,
                MAJORITY_EMPTIED,
                ANSWERS_DROPPED,
                CONNECTIONS_RESET);
    }

    @Test
    void zooKeeperKeepsItsPromisesUnderEachFault() throws Exception {
        ShortCampaign.keepsItsPromises(
                Target.ZOOKEEPER, CLIENT_FROZEN, CLIENT_CUT_OFF, LEADER_KILLED, CONNECTIONS_RESET);
    }

    @Test
    void etcdKeepsItsPromisesUnderEachFault() throws Exception {
        assumeTrue(EtcdServer.isHere(), "no etcd on the PATH");
        ShortCampaign.keepsItsPromises(
                Target.ETCD, CLIENT_FROZEN, CLIENT_CUT_OFF, LEADER_KILLED, COMPACTED, CONNECTIONS_RESET);
    }
}
