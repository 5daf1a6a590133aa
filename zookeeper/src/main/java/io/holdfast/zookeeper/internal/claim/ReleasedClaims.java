package io.holdfast.zookeeper.internal.claim;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;

/**
 * The claims that were released a short while ago. A late attempt of such a claim does not take the lock. All operations of one claim use
 * the same back end, so this needs no node. Not thread-safe.
 */
public final class ReleasedClaims {

    static final int MOST = 10_000;
    static final long KEPT_NANOS = 30_000_000_000L;

    private record Stone(String claimId, long sinceNanos) {}

    private final Deque<Stone> inOrder = new ArrayDeque<>();
    private final Set<String> ids = new HashSet<>();

    public void add(String claimId, long nowNanos) {
        if (ids.add(claimId)) {
            inOrder.addLast(new Stone(claimId, nowNanos));
        }
        while (!inOrder.isEmpty()
                && (inOrder.size() > MOST || nowNanos - inOrder.getFirst().sinceNanos() >= KEPT_NANOS)) {
            ids.remove(inOrder.removeFirst().claimId());
        }
    }

    public boolean contains(String claimId) {
        return ids.contains(claimId);
    }
}
