package io.holdfast.redis.internal.protocol;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The claims with an attempt that was sent and never answered: it may still reach the server, even after the release of
 * the claim. Only the release of such a claim leaves a tombstone. Bounded: if claims are never released, the oldest are
 * forgotten first.
 */
final class UnansweredClaims {

    private static final int MOST = 16_384;

    /** Guarded by itself; in the usual case, {@link #isNone} avoids the lock. */
    private final Set<String> ids = new LinkedHashSet<>();

    /** Written under the lock of {@link #ids}. */
    private volatile boolean isNone = true;

    void add(String claimId) {
        synchronized (ids) {
            ids.add(claimId);
            if (ids.size() > MOST) {
                Iterator<String> oldest = ids.iterator();
                oldest.next();
                oldest.remove();
            }
            isNone = false;
        }
    }

    boolean contains(String claimId) {
        if (isNone) {
            return false;
        }
        synchronized (ids) {
            return ids.contains(claimId);
        }
    }

    void remove(String claimId) {
        if (isNone) {
            return;
        }
        synchronized (ids) {
            ids.remove(claimId);
            isNone = ids.isEmpty();
        }
    }
}
