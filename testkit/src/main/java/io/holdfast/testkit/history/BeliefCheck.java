package io.holdfast.testkit.history;

import io.holdfast.LockKind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * Checks that no two owners believe in a lease at the same moment. A mutex has one owner, a read/write lock has one
 * writer or any number of readers, and the owners of a semaphore take no more than its permits together. The belief
 * lasts from the emission of the lease to the earliest of: release called, loss signalled, validity over. The end does
 * not belong to it.
 *
 * <p>If an operation continues a lease, its belief begins at the end of the belief in the former lease: the lock is
 * held in between.
 *
 * <p>If the claims of a semaphore disagree about its permits, the largest number of the present owners counts: the back
 * end judged the last grant by that claim's own number.
 */
public final class BeliefCheck implements HistoryCheck {

    /** Makes the check; it has no state. */
    public BeliefCheck() {}

    @Override
    public List<Violation> violations(History history) {
        List<Belief> beliefs = beliefs(history.operations());
        beliefs.sort(Comparator.comparingLong(Belief::from));
        Map<String, Believers> locks = new HashMap<>();
        List<Violation> found = new ArrayList<>();
        for (Belief belief : beliefs) {
            locks.computeIfAbsent(belief.owner().lockId(), id -> new Believers())
                    .join(belief.owner(), belief.from(), found);
        }
        return found;
    }

    private record Belief(LockOperation owner, long from) {}

    private static List<Belief> beliefs(List<LockOperation> operations) {
        List<LockOperation> owners = new ArrayList<>(operations);
        owners.removeIf(owner -> owner.acquiredAt() >= owner.believedUntil());
        owners.sort(Comparator.comparingLong(LockOperation::acquiredAt));
        Map<String, Long> ends = new HashMap<>();
        List<Belief> beliefs = new ArrayList<>();
        for (LockOperation owner : owners) {
            String hold = owner.lockId() + ' ' + owner.token();
            Long end = owner.isSuccessor() ? ends.get(hold) : null;
            beliefs.add(new Belief(owner, end == null ? owner.acquiredAt() : Math.min(end, owner.acquiredAt())));
            ends.put(hold, owner.believedUntil());
        }
        return beliefs;
    }

    private static final class Believers {

        private final PriorityQueue<LockOperation> present =
                new PriorityQueue<>(Comparator.comparingLong(LockOperation::believedUntil));
        private int exclusive;

        /** How many permits the present owners take together. */
        private long taken;

        void join(LockOperation owner, long from, List<Violation> found) {
            while (!present.isEmpty() && present.peek().believedUntil() <= from) {
                LockOperation over = present.remove();
                exclusive -= over.isExclusive() ? 1 : 0;
                taken -= over.permits();
            }
            present.add(owner);
            taken += owner.permits();
            exclusive += owner.isExclusive() ? 1 : 0;
            if (isTooMany(owner)) {
                found.add(new Violation(
                        "belief",
                        "%d believe in %s at %d:%n%s"
                                .formatted(present.size(), owner.lockId(), from, Quote.of(present))));
            }
        }

        private boolean isTooMany(LockOperation owner) {
            if (owner.lock().kind() == LockKind.SEMAPHORE) {
                // Avoids reading all of them in the usual case.
                return taken > owner.lock().permits()
                        && taken
                                > present.stream()
                                        .mapToInt(it -> it.lock().permits())
                                        .max()
                                        .orElse(0);
            }
            return exclusive > 0 && present.size() > 1;
        }
    }
}
