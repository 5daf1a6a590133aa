package io.holdfast.proof.sim;

import io.holdfast.LockKind;
import io.holdfast.testkit.history.History;
import io.holdfast.testkit.history.HistoryCheck;
import io.holdfast.testkit.history.LockOperation;
import io.holdfast.testkit.history.Violation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Checks that turns of processes are first come, first served. Later claims may pass a waiter in at most two turns of each other process: the turn that
 * held the lock when the waiter came, and the turn that had a place in the back end before it. For each turn of its own process that does not reach the
 * waiter, one more turn may pass. Acquisitions of many locks are not checked: they reach a lock later than they start.
 *
 * @param mostPerTurn how many owners a turn has
 * @param apartNanos claims that come within this time have no order
 * @param isOneOfMany whether it is one lock of an acquisition of many
 */
record TurnCheck(int mostPerTurn, long apartNanos, Predicate<LockOperation> isOneOfMany) implements HistoryCheck {

    @Override
    public List<Violation> violations(History history) {
        List<Violation> found = new ArrayList<>();
        for (LockOperation waiter : history.operations()) {
            if (waiter.lock().kind() == LockKind.MUTEX && waiter.hasAcquired() && !isOneOfMany.test(waiter)) {
                check(waiter, history, found);
            }
        }
        return found;
    }

    private void check(LockOperation waiter, History history, List<Violation> found) {
        int ownTurns = 0;
        Map<String, Integer> passed = new HashMap<>();
        for (LockOperation other : history.operations()) {
            if (!other.lock().equals(waiter.lock()) || other.equals(waiter)) {
                continue;
            }
            if (other.process().equals(waiter.process())) {
                long end = Math.min(other.acquiredAt(), other.endedAt());
                ownTurns += end > waiter.askedAt() && end <= waiter.acquiredAt() ? 1 : 0;
            } else if (other.hasAcquired()
                    && other.askedAt() > waiter.askedAt() + apartNanos
                    && other.acquiredAt() < waiter.acquiredAt()) {
                passed.merge(other.process(), 1, Integer::sum);
            }
        }
        int most = mostPerTurn * (2 + ownTurns);
        passed.forEach((process, times) -> {
            if (times > most) {
                found.add(new Violation(
                        "turns", "passed %d times by later claims of %s: %s".formatted(times, process, waiter)));
            }
        });
    }
}
