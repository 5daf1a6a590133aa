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

    private RedisOpenPoints() {}
}
