package io.holdfast.internal.engine;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Groups renewals into requests. Leases of one batch have similar time limits, so that a short limit does not end the
 * request of the others. A batch of leases that have failed is smaller.
 */
final class RenewalBatches {

    /** A batch of this size keeps a Redis server busy for about as long as one network round trip. */
    static final int LARGEST = 500;

    private static final Comparator<Renewable> BY_LIMIT_THEN_FAILURES = Comparator.<Renewable>comparingLong(
                    lease -> lease.operationNanos())
            .thenComparingInt(Renewable::renewalFailures);

    private RenewalBatches() {}

    /**
     * Sorts the leases, and splits them into batches, which may be more than the free requests. With many failed leases,
     * batches are larger rather than wait for each other.
     */
    static List<List<Renewable>> of(List<Renewable> due, int free) {
        due.sort(BY_LIMIT_THEN_FAILURES);
        int least = Math.min(LARGEST, (due.size() + free - 1) / free);
        List<List<Renewable>> batches = new ArrayList<>();
        int from = 0;
        for (int to = 1; to <= due.size(); to++) {
            if (to == due.size() || !fits(due.get(from), due.get(to), to - from, least)) {
                batches.add(new ArrayList<>(due.subList(from, to)));
                from = to;
            }
        }
        return batches;
    }

    /** Allows a lease to give up at most a fifth of its time limit. */
    private static boolean fits(Renewable first, Renewable next, int size, int least) {
        long limit = first.operationNanos();
        return next.operationNanos() <= limit + limit / 4 && size < Math.max(least, largest(next));
    }

    private static int largest(Renewable lease) {
        return Math.max(1, LARGEST >> Math.min(lease.renewalFailures(), 30));
    }
}
