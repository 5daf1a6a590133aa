package io.holdfast.redis.internal.pubsub;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The claims of this client that left while they could still be granted the lock. A grant to one of them goes back to
 * the server, once. Bounded: the oldest are forgotten, and a grant to one of those ends with its claim time.
 */
final class AbandonedClaims {

    private static final int MOST = 4_096;

    /** Guarded by itself. */
    private final Map<String, Long> ids = new LinkedHashMap<>();

    /**
     * Adds a claim.
     *
     * @param lastToken of the last grant that it has got; 0 for none. It may have been exported with that token
     */
    void add(String claimId, long lastToken) {
        synchronized (ids) {
            ids.put(claimId, lastToken);
            if (ids.size() > MOST) {
                Iterator<String> oldest = ids.keySet().iterator();
                oldest.next();
                oldest.remove();
            }
        }
    }

    /** Removes a claim that is granted the lock. False if it is not there any more, or has got this grant before. */
    boolean remove(String claimId, long token) {
        synchronized (ids) {
            Long last = ids.get(claimId);
            return last != null && token > last && ids.remove(claimId) != null;
        }
    }
}
