package io.holdfast.r2dbc.internal.protocol;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The claims with an attempt that was sent but never answered. Such an attempt may still reach the database, even after the release of its
 * claim. So the release leaves a trace there. The number of claims is bounded: the oldest ones are forgotten first. Thread-safe.
 */
public final class UnansweredClaims {

    private static final int MOST = 16_384;

    /** Guarded by itself. */
    private final Set<String> ids = new LinkedHashSet<>();

    public void add(String claimId) {
        synchronized (ids) {
            ids.add(claimId);
            if (ids.size() > MOST) {
                Iterator<String> oldest = ids.iterator();
                oldest.next();
                oldest.remove();
            }
        }
    }

    public boolean contains(String claimId) {
        synchronized (ids) {
            return ids.contains(claimId);
        }
    }

    public void remove(String claimId) {
        synchronized (ids) {
            ids.remove(claimId);
        }
    }
}
