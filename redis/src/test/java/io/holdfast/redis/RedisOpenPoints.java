package io.holdfast.redis;

import java.util.Set;

/** The tests of the contract that Redis does not pass yet. */
final class RedisOpenPoints {

    /** Each of these puts all waiters at the front of the queue back behind it, and the next hand-off takes them out again. */
    static final Set<String> OF_THE_SERVER = Set.of(
            "brokenHoldOfAMutexCostsAtMostAServedClaim",
            "refusalByTheFullQueueOfAMutexCostsAtMostAServedClaim",
            "timeOutOfAClaimOfAMutexCostsAtMostAServedOne",
            "withdrawalFromAMutexCostsAtMostAServedClaim");

    /**
     * Behind five processes that hang, a claim waits for longer than six claim times. And the contract lets one claim lose
     * its grant, while here the process gets the grant, not the claim.
     */
    static final Set<String> OF_LOCAL_HAND_OVER = Set.of(
            "claimOfAMutexBehindFiveVanishedClientsIsServedInTime",
            "clientThatLostOneAnswerToAClaimOfAMutexIsTrustedAgain");

    private RedisOpenPoints() {}
}
