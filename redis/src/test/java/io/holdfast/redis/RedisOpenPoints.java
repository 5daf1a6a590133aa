package io.holdfast.redis;

import java.util.Set;

/** The tests of the contract that Redis does not pass yet. */
final class RedisOpenPoints {

    static final Set<String> OF_THE_SERVER = Set.of(
            "brokenHoldOfAMutexCostsAtMostAServedClaim",
            "refusalByTheFullQueueOfAMutexCostsAtMostAServedClaim",
            "refusalByTheFullQueueOfASemaphoreCostsAtMostAServedClaim",
            "refusalByTheFullQueueOfWritersCostsAtMostAServedClaim",
            "refusalOfAClaimOfAMutexCostsAtMostAServedOne",
            "timeOutOfAClaimOfAMutexCostsAtMostAServedOne");

    /** Each client keeps the lock for its own claims. */
    static final Set<String> OF_LOCAL_HAND_OVER = Set.of(
            "claimOfAMutexBehindFiveVanishedClientsIsServedInTime",
            "clientThatLostOneAnswerToAClaimOfAMutexIsTrustedAgain");

    private RedisOpenPoints() {}
}
