package io.holdfast.proof.hostile;

import io.holdfast.testkit.history.History;
import io.holdfast.testkit.history.HistoryEvent;
import io.holdfast.testkit.history.HistoryEvent.What;
import io.holdfast.testkit.history.LockOperation;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Counts how often an exclusive lock passed from a holder whose validity had run out to the next holder, and how close they came. This shows how hard
 * the campaign tried the promise. Pure.
 *
 * @param count the number of such successions
 * @param closest the shortest time from the end of the validity to the next grant; zero if there was none
 */
record Successions(int count, Duration closest) {

    static Successions of(History history) {
        Map<String, Long> validities = validities(history);
        Predicate<LockOperation> ranOut =
                owner -> owner.believedUntil() == validities.getOrDefault(id(owner.process(), owner.number()), 0L);
        List<LockOperation> owners = history.operations().stream()
                .filter(owner -> owner.hasAcquired() && owner.isExclusive())
                .sorted(Comparator.comparing(Successions::lock).thenComparingLong(LockOperation::acquiredAt))
                .toList();
        int count = 0;
        long closest = Long.MAX_VALUE;
        for (int i = 1; i < owners.size(); i++) {
            LockOperation before = owners.get(i - 1);
            LockOperation next = owners.get(i);
            if (lock(before).equals(lock(next)) && ranOut.test(before)) {
                count++;
                closest = Math.min(closest, next.acquiredAt() - before.believedUntil());
            }
        }
        return new Successions(count, count == 0 ? Duration.ZERO : Duration.ofNanos(closest));
    }

    private static Map<String, Long> validities(History history) {
        Map<String, Long> latest = new HashMap<>();
        for (HistoryEvent event : history.events()) {
            if (event.what() == What.ACQUIRED || event.what() == What.VALID) {
                Long unused = latest.merge(id(event.process(), event.operation()), event.value(), Math::max);
            }
        }
        return latest;
    }

    private static String lock(LockOperation owner) {
        return owner.lock().kind() + " " + owner.lock().name();
    }

    private static String id(String process, long operation) {
        return process + "#" + operation;
    }
}
