package io.holdfast.proof.sim;

import io.holdfast.testkit.history.History;
import io.holdfast.testkit.history.HistoryCheck;
import io.holdfast.testkit.history.LockOperation;
import io.holdfast.testkit.history.Violation;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * Checks that a mutex is not granted again before its owner's least hold time is over. That time counts from when the grant reaches the client. The owner
 * itself may get its lease later: a thread that runs users' code delays it.
 *
 * @param leastNanos of an owner; 0 without one
 * @param grantedAt when the grant of an owner reached its client, if that is known
 */
record LeastHoldCheck(ToLongFunction<LockOperation> leastNanos, Function<LockOperation, OptionalLong> grantedAt)
        implements HistoryCheck {

    /** The smallest ratio of the rates of two clocks, of servers and processes. */
    private static final double SPEED = 0.98;

    @Override
    public List<Violation> violations(History history) {
        Map<String, List<LockOperation>> mutexes = new HashMap<>();
        history.operations().stream()
                .filter(it -> it.hasAcquired() && it.isExclusive())
                .sorted(Comparator.comparingLong(LockOperation::acquiredAt).thenComparingLong(LockOperation::token))
                .forEach(it -> mutexes.computeIfAbsent(it.lock().toString(), name -> new ArrayList<>())
                        .add(it));
        List<Violation> found = new ArrayList<>();
        mutexes.values().forEach(owners -> check(owners, found));
        return found;
    }

    private void check(List<LockOperation> owners, List<Violation> found) {
        long freeAt = 0;
        LockOperation keeper = null;
        for (LockOperation owner : owners) {
            if (!owner.isSuccessor() && owner.acquiredAt() < freeAt) {
                found.add(new Violation(
                        "least hold time",
                        "granted before the least hold time of another owner was over, at %d:%n  %s%n  %s"
                                .formatted(freeAt, keeper, owner)));
            }
            long granted = grantedAt.apply(owner).orElse(owner.askedAt());
            long end = granted + (long) (leastNanos.applyAsLong(owner) * SPEED);
            if (leastNanos.applyAsLong(owner) > 0 && end > freeAt) {
                freeAt = end;
                keeper = owner;
            }
        }
    }
}
