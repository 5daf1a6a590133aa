package io.holdfast.testkit.history;

import io.holdfast.LockKind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Checks the order of arrival: if an acquisition was seen in the queue before another one was requested, the other one
 * gets no lease while the first still waits. An operation that continues a lease overtakes no waiter. Only pairs that
 * exclude each other count, such as two claims of a semaphore that do not fit into its permits together. Owners that do
 * not exclude each other cannot see the order of their grants. A pair also does not count once a fault may have cost
 * the place in the queue ({@link HistoryEvent.What#PLACE_UNSURE}).
 */
public final class QueueCheck implements HistoryCheck {

    private static final Comparator<LockOperation> BY_PLACE = Comparator.comparingLong(LockOperation::queuedAt)
            .thenComparing(LockOperation::process)
            .thenComparingLong(LockOperation::number);

    /** Makes the check; it has no state. */
    public QueueCheck() {}

    @Override
    public List<Violation> violations(History history) {
        Map<String, List<Step>> locks = new HashMap<>();
        for (LockOperation operation : history.operations()) {
            List<Step> steps = locks.computeIfAbsent(operation.lockId(), id -> new ArrayList<>());
            long end = Math.min(Math.min(operation.acquiredAt(), operation.endedAt()), operation.unsureAt());
            if (operation.queuedAt() < end) {
                steps.add(new Step(operation.queuedAt(), Kind.COMES, operation));
                steps.add(new Step(end, Kind.LEAVES, operation));
            }
            if (operation.hasAcquired() && !operation.isSuccessor()) {
                steps.add(new Step(operation.acquiredAt(), Kind.IS_SERVED, operation));
            }
        }
        List<Violation> found = new ArrayList<>();
        locks.values().forEach(steps -> walk(steps, found));
        return found;
    }

    private static void walk(List<Step> steps, List<Violation> found) {
        // At the same time, an operation that leaves the queue was not overtaken, and one that joins it was not there
        // yet.
        steps.sort(Comparator.comparingLong(Step::nanos).thenComparing(Step::kind));
        TreeSet<LockOperation> all = new TreeSet<>(BY_PLACE);
        TreeSet<LockOperation> exclusive = new TreeSet<>(BY_PLACE);
        Set<LockOperation> reported = new HashSet<>();
        for (Step step : steps) {
            LockOperation one = step.operation();
            switch (step.kind()) {
                case COMES -> {
                    all.add(one);
                    if (one.isExclusive()) {
                        exclusive.add(one);
                    }
                }
                case LEAVES -> {
                    all.remove(one);
                    exclusive.remove(one);
                }
                case IS_SERVED -> {
                    LockOperation first = passedBy(one, isReader(one) ? exclusive : all);
                    if (first != null && reported.add(first)) {
                        found.add(new Violation(
                                "queue", "a later acquisition overtook a waiter:%n  %s%n  %s".formatted(first, one)));
                    }
                }
            }
        }
    }

    private static boolean isReader(LockOperation one) {
        return one.lock().kind() == LockKind.READ;
    }

    /** Returns the first operation that waited before the other one was requested, and excludes it. */
    private static @Nullable LockOperation passedBy(LockOperation one, SortedSet<LockOperation> waiting) {
        for (LockOperation earlier : waiting) {
            if (earlier.queuedAt() >= one.askedAt()) {
                return null;
            }
            if (earlier.excludes(one)) {
                return earlier;
            }
        }
        return null;
    }

    private enum Kind {
        LEAVES,
        IS_SERVED,
        COMES
    }

    private record Step(long nanos, Kind kind, LockOperation operation) {}
}
