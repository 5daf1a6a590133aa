package io.holdfast.zookeeper.internal.signal;

import io.holdfast.LossReason;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the losses of claims that had no subscriber at that moment: a lease may be lost between its grant and its watch. The next
 * subscriber of the claim gets the loss. Thread-safe.
 */
final class UndeliveredLosses {

    /** If a claim is neither watched nor released, that is a mistake of the caller, so the oldest loss is dropped. */
    static final int MOST = 1_000;

    /** Guarded by this. */
    private final Map<String, LossReason> byClaim = new LinkedHashMap<>();

    synchronized void add(String claimId, LossReason reason) {
        byClaim.put(claimId, reason);
        if (byClaim.size() > MOST) {
            byClaim.remove(byClaim.keySet().iterator().next());
        }
    }

    /** Returns the loss of the claim once, and removes it; null without one. */
    synchronized @Nullable LossReason take(String claimId) {
        return byClaim.remove(claimId);
    }
}
