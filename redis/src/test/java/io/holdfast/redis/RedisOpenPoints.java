package io.holdfast.redis;

import java.util.Set;

/** The tests of the contract that Redis does not pass yet, in one place for all forms of it. */
final class RedisOpenPoints {

    static final Set<String> ALL = Set.of(
            "claimOfAMutexBehindAVanishedClientIsServedInTime",
            "claimOfAMutexBehindFiveVanishedClientsIsServedInTime",
            "claimOfASemaphoreBehindAVanishedClientIsServedInTime",
            "claimOfASemaphoreBehindFiveVanishedClientsIsServedInTime",
            "clientThatLostOneAnswerToAClaimOfAMutexIsTrustedAgain",
            "clientThatLostOneAnswerToAClaimOfASemaphoreIsTrustedAgain",
            "clientThatLostOneAnswerToAWriterIsTrustedAgain",
            "writerBehindWritersOfAVanishedClientIsServedInTime",
            "writerBehindWritersOfFiveVanishedClientsIsServedInTime");

    private RedisOpenPoints() {}
}
