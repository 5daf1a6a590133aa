package io.holdfast.zookeeper.internal.signal;

import io.holdfast.LossReason;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Losses of claims that had no subscriber at that moment: a lease may be lost between its grant and its watch. The next subscriber of the claim
 * gets the loss. Thread-safe.
 */
final class UndeliveredLosses {

    /** Claims that are neither watched nor released are a mistake of the caller, and need not cost more. */
    static final int MOST = 1_000;

    /** Guarded by this. */
    private final Map<String, LossReason> byClaim = new LinkedHashMap<>();

    synchronized void add(String claimId, LossReason reason) {
        byClaim.put(claimId, reason);
        if (byClaim.size() > MOST) {
            byClaim.remove(byClaim.keySet().iterator().next());
        }
    }

    /** Once. */
    synchronized @Nullable LossReason take(String claimId) {
        return byClaim.remove(claimId);
    }
}
