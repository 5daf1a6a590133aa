package io.holdfast.redis.internal.topology;

import io.lettuce.core.RedisURI;

/**
 * Receives the changes that a topology finds. Not nested in {@link Topology}: a type nested in an interface is public.
 */
public interface TopologyListener {

    /** Keys may have another master than before. */
    void moved();

    /** Whether a claim waits for messages of this server. */
    boolean isWaitedAt(RedisURI server);
}
