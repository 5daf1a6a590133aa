package io.holdfast.redis.internal.protocol;

import io.holdfast.spi.LockAttempt;
import io.lettuce.core.RedisURI;

/** The claim that a later grant goes to, after one of its attempts. */
public interface GrantRecipient {

    /**
     * Returns the channel to which the scripts publish, for the attempt that is about to be sent there; empty if this
     * claim has to poll.
     */
    String channelAt(RedisURI server);

    /** Returns the secret with which the server signs a grant. */
    String secret();

    /** The queue was full: the claim does not wait. */
    void refused();

    /**
     * Returns the answer after it has noted it: to the first waiter of this client for a lock, with another time for its next attempt.
     *
     * @param holderKey of the lock
     */
    LockAttempt answered(String holderKey, LockAttempt answer);
}
