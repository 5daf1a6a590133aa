package io.holdfast.spi.support;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What a back end remembers about claims, by their ids, in bounded memory: with too many claims it forgets the oldest
 * first. Thread-safe. While it is empty, looking up takes no lock.
 *
 * @param <V> the type of what is remembered about one claim
 */
public final class RecentClaims<V> {

    private final int most;

    /** Guarded by itself; in the usual case, {@link #isEmpty} avoids the lock. */
    private final Map<String, V> byId = new LinkedHashMap<>();

    /** Written under the lock of {@link #byId}. */
    private volatile boolean isEmpty = true;

    /**
     * Begins without a claim.
     *
     * @param most how many claims are remembered
     */
    public RecentClaims(int most) {
        this.most = most;
    }

    /**
     * Remembers a claim.
     *
     * @param claimId the id of the claim
     * @param value replaces what was remembered about it
     */
    public void add(String claimId, V value) {
        synchronized (byId) {
            byId.put(claimId, value);
            if (byId.size() > most) {
                byId.remove(byId.keySet().iterator().next());
            }
            isEmpty = false;
        }
    }

    /**
     * {@return whether a claim is remembered: from {@link #add} until it is removed or forgotten}
     *
     * @param claimId the id of the claim
     */
    public boolean contains(String claimId) {
        if (isEmpty) {
            return false;
        }
        synchronized (byId) {
            return byId.containsKey(claimId);
        }
    }

    /**
     * Removes a claim.
     *
     * @param claimId the id of the claim
     * @return what was remembered about it; null if nothing was
     */
    @CanIgnoreReturnValue
    public @Nullable V remove(String claimId) {
        return removeIf(claimId, it -> true);
    }

    /**
     * Removes a claim on a condition.
     *
     * @param claimId the id of the claim
     * @param condition judges what is remembered about it
     * @return what was remembered about it; null if nothing was, or it does not meet the condition
     */
    public @Nullable V removeIf(String claimId, Predicate<? super V> condition) {
        if (isEmpty) {
            return null;
        }
        synchronized (byId) {
            V known = byId.get(claimId);
            if (known == null || !condition.test(known)) {
                return null;
            }
            byId.remove(claimId);
            isEmpty = byId.isEmpty();
            return known;
        }
    }
}
