package io.holdfast.r2dbc.internal.protocol;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Claims with an attempt that was sent and never answered: it may still reach the database, even after the release of the claim. Their release
 * leaves a trace there. Bounded: those that are never released are forgotten, the oldest first. Thread-safe.
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
