package io.holdfast.redis.internal.pubsub;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The claims of this client that left while they could still be granted the lock. A grant to one of them goes back to
 * the server, once. Bounded: the oldest are forgotten, and a grant to one of those ends with its claim time.
 */
final class AbandonedClaims {

    private static final int MOST = 4_096;

    /** Guarded by itself. */
    private final Set<String> ids = new LinkedHashSet<>();

    void add(String claimId) {
        synchronized (ids) {
            ids.add(claimId);
            if (ids.size() > MOST) {
                Iterator<String> oldest = ids.iterator();
                oldest.next();
                oldest.remove();
            }
        }
    }

    /** Removes a claim. False if it is not there, or not any more. */
    boolean remove(String claimId) {
        synchronized (ids) {
            return ids.remove(claimId);
        }
    }
}
