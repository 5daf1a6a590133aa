package io.holdfast.internal;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Which renewals go out together: those whose time limits are about the same, so that a short one does not end the others' request, and
 * fewer of those that have failed.
 */
final class RenewalBatches {

    /** At this size a batch keeps a Redis server busy for about as long as one network round trip takes. */
    static final int LARGEST = 500;

    private static final Comparator<HeldLease> BY_LIMIT_THEN_FAILURES = Comparator.<HeldLease>comparingLong(
                    lease -> lease.lock().operationNanos())
            .thenComparingInt(HeldLease::renewalFailures);

    private RenewalBatches() {}

    /**
     * Splits.
     *
     * @param due the leases; their order changes
     * @param free how many requests may be sent now; with many leases that have failed, requests grow rather than wait for each other
     * @return all of them, in batches that may be more than {@code free}
     */
    static List<List<HeldLease>> of(List<HeldLease> due, int free) {
        due.sort(BY_LIMIT_THEN_FAILURES);
        int least = Math.min(LARGEST, (due.size() + free - 1) / free);
        List<List<HeldLease>> batches = new ArrayList<>();
        int from = 0;
        for (int to = 1; to <= due.size(); to++) {
            if (to == due.size() || !fits(due.get(from), due.get(to), to - from, least)) {
                batches.add(List.copyOf(due.subList(from, to)));
                from = to;
            }
        }
        return batches;
    }

    /** A lease gives away a fifth of its time limit at the most. */
    private static boolean fits(HeldLease first, HeldLease next, int size, int least) {
        long limit = first.lock().operationNanos();
        return next.lock().operationNanos() <= limit + limit / 4 && size < Math.max(least, largest(next));
    }

    private static int largest(HeldLease lease) {
        return Math.max(1, LARGEST >> Math.min(lease.renewalFailures(), 30));
    }
}
