package io.holdfast.redis.internal.topology;

import io.lettuce.core.RedisURI;
import java.util.Set;

/**
 * Receives the changes that a topology finds. Not nested in {@link Topology}: a type nested in an interface is public.
 */
public interface TopologyListener {

    /** The client has left this server, which was silent and may not be the master any more. */
    void suspect(RedisURI server);

    /** Keys may have another master than before. */
    void moved();

    /** Ends the unused subscriptions to other servers than these. False if one of them is left. */
    boolean endUnused(Set<String> tagsInUse);
}
