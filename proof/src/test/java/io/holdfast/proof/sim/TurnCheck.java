package io.holdfast.proof.sim;

import io.holdfast.spi.LockKind;
import io.holdfast.testkit.history.History;
import io.holdfast.testkit.history.HistoryCheck;
import io.holdfast.testkit.history.LockOperation;
import io.holdfast.testkit.history.Violation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Turns are first come, first served: of each other process, a waiter is passed by claims that came later in two turns at the most. One of them
 * had its place before the waiter came. The other one took its place while the waiter was left over from a turn of its own process.
 *
 * @param mostPerTurn how many owners a turn has
 * @param apartNanos claims that come within this time have no order
 */
record TurnCheck(int mostPerTurn, long apartNanos) implements HistoryCheck {

    @Override
    public List<Violation> violations(History history) {
        List<Violation> found = new ArrayList<>();
        for (LockOperation waiter : history.operations()) {
            if (waiter.lock().kind() == LockKind.MUTEX && waiter.hasAcquired()) {
                passed(waiter, history).forEach((process, times) -> {
                    if (times > 2 * mostPerTurn) {
                        found.add(new Violation(
                                "turns", "passed %d times by later claims of %s: %s".formatted(times, process, waiter)));
                    }
                });
            }
        }
        return found;
    }

    private Map<String, Integer> passed(LockOperation waiter, History history) {
        Map<String, Integer> byProcess = new HashMap<>();
        for (LockOperation other : history.operations()) {
            boolean isForeign = other.lock().equals(waiter.lock()) && !other.process().equals(waiter.process());
            if (isForeign
                    && other.hasAcquired()
                    && other.askedAt() > waiter.askedAt() + apartNanos
                    && other.acquiredAt() < waiter.acquiredAt()) {
                byProcess.merge(other.process(), 1, Integer::sum);
            }
        }
        return byProcess;
    }
}
