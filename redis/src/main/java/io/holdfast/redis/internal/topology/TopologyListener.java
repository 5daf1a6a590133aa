package io.holdfast.redis.internal.topology;

import io.lettuce.core.RedisURI;
import java.util.Set;

/** Told what a topology finds out about the servers. Not nested in {@link Topology}: what is nested in an interface is public. */
public interface TopologyListener {

    /** A server that was silent may not be the master any more, and was left. */
    void suspect(RedisURI server);

    /** Keys may have another master than before. */
    void moved();

    /** Ends what is open to other servers than these, and not used. False when something is left. */
    boolean endUnused(Set<String> tagsInUse);
}
