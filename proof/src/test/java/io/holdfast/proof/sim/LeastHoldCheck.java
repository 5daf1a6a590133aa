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
import java.util.function.ToLongFunction;

/**
 * Checks that a mutex is not granted again before its owner's least hold time is over. The server grants at an unknown moment: after the owner had sent
 * its attempt, and after all former owners had ended.
 *
 * @param leastNanos of an owner; 0 without one
 */
record LeastHoldCheck(ToLongFunction<LockOperation> leastNanos) implements HistoryCheck {

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
        long formerEnd = 0;
        for (LockOperation owner : owners) {
            if (!owner.isSuccessor() && owner.acquiredAt() < freeAt) {
                found.add(new Violation(
                        "least hold time",
                        "granted before the least hold time of another owner was over, at %d:%n  %s%n  %s"
                                .formatted(freeAt, keeper, owner)));
            }
            long end = Math.max(owner.askedAt(), formerEnd) + (long) (leastNanos.applyAsLong(owner) * SPEED);
            if (leastNanos.applyAsLong(owner) > 0 && end > freeAt) {
                freeAt = end;
                keeper = owner;
            }
            formerEnd = Math.max(formerEnd, owner.believedUntil());
        }
    }
}
