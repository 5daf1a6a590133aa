package io.holdfast.redis.internal.protocol;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/** A bounded set of claims, each with a token. If claims are never removed, the oldest are forgotten first. */
public final class RecentClaims {

    private final int most;

    /** Guarded by itself; in the usual case, {@link #isNone} avoids the lock. */
    private final Map<String, Long> tokens = new LinkedHashMap<>();

    /** Written under the lock of {@link #tokens}. */
    private volatile boolean isNone = true;

    /**
     * Begins without a claim.
     *
     * @param most how many are remembered
     */
    public RecentClaims(int most) {
        this.most = most;
    }

    public void add(String claimId, long token) {
        synchronized (tokens) {
            tokens.put(claimId, token);
            if (tokens.size() > most) {
                Iterator<String> oldest = tokens.keySet().iterator();
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
        synchronized (tokens) {
            return tokens.containsKey(claimId);
        }
    }

    /** Removes a claim. False if it is not there, or its token is not below this one. */
    public boolean remove(String claimId, long token) {
        if (isNone) {
            return false;
        }
        synchronized (tokens) {
            Long known = tokens.get(claimId);
            boolean isRemoved = known != null && token > known && tokens.remove(claimId) != null;
            isNone = tokens.isEmpty();
            return isRemoved;
        }
    }
}
