package io.holdfast.redis.internal.protocol;

import io.holdfast.spi.LockAttempt;
import io.lettuce.core.RedisURI;

/** Where a claim can be told of a grant that comes after one of its attempts. */
public interface GrantRecipient {

    /** The channel for the scripts to publish to, for the attempt that is about to be sent there; empty when this claim has to poll. */
    String channelAt(RedisURI server);

    /** Whether the server is to publish an echo of that attempt on the channel; asked after {@link #channelAt}. */
    boolean wantsEcho();

    /** What the server signs a grant with. */
    String secret();

    /** The queue was full: the claim waits for nothing. */
    void refused();

    /** Passes the answer on. */
    LockAttempt answered(LockAttempt answer);
}
