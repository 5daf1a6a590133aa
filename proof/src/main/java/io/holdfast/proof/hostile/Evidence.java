package io.holdfast.proof.hostile;

import io.holdfast.proof.hostile.Clients.Standstill;
import io.holdfast.testkit.history.History;
import io.holdfast.testkit.history.HistoryEvent;
import io.holdfast.testkit.history.HistoryEvent.What;
import io.holdfast.testkit.history.LockOperation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Turns the histories of the processes and the injected faults into the history that the checker reads. Pure.
 *
 * <ul>
 *   <li>A killed process has no lease any more. A frozen process still believes in its leases.
 *   <li>Where the back end may lose grants by design, a lease that was granted before ends with the beginning of that {@link Gap}. A lease that was
 *       emitted later, but may have been granted before the end of the gap, is left out. The validity shows which one that is: it counts from the
 *       sending of the request, so the request for a lease that ends more than a lease duration after the gap was sent after the gap.
 * </ul>
 */
final class Evidence {

    private final List<HistoryEvent> events;
    private final List<Standstill> standstills;

    Evidence(List<HistoryEvent> events, List<Standstill> standstills) {
        this.events = List.copyOf(events);
        this.standstills = List.copyOf(standstills);
    }

    /** Returns the whole history. */
    History all() {
        return History.of(withEnds(events, this::endsOfKilled));
    }

    /** Returns the leases that must exclude each other, and whose tokens must rise. */
    History withoutGaps(List<Gap> gaps, Duration lease) {
        Set<String> left = new HashSet<>();
        for (LockOperation operation : all().operations()) {
            boolean isUnsure = operation.hasAcquired()
                    && gaps.stream().anyMatch(gap -> isUnsure(gap, operation, firstValidity(operation), lease));
            if (isUnsure) {
                left.add(id(operation.process(), operation.number()));
            }
        }
        List<HistoryEvent> rest = events.stream()
                .filter(event -> event.what() == What.ASKED || !left.contains(id(event.process(), event.operation())))
                .toList();
        return History.of(withEnds(rest, operation -> {
            List<Long> ends = new ArrayList<>(endsOfKilled(operation));
            gaps.stream()
                    .map(Gap::fromNanos)
                    .filter(from -> from > operation.acquiredAt())
                    .forEach(ends::add);
            return ends;
        }));
    }

    private static boolean isUnsure(Gap gap, LockOperation operation, long validUntil, Duration lease) {
        return operation.acquiredAt() >= gap.fromNanos() && validUntil - lease.toNanos() <= gap.toNanos();
    }

    private final Map<String, Long> firstValidities = new HashMap<>();

    private long firstValidity(LockOperation operation) {
        if (firstValidities.isEmpty()) {
            events.stream()
                    .filter(event -> event.what() == What.ACQUIRED)
                    .forEach(event -> firstValidities.put(id(event.process(), event.operation()), event.value()));
        }
        return firstValidities.getOrDefault(id(operation.process(), operation.number()), 0L);
    }

    private List<Long> endsOfKilled(LockOperation operation) {
        return standstills.stream()
                .filter(Standstill::isFinal)
                .filter(it -> it.process().equals(operation.process()))
                .map(Standstill::fromNanos)
                .toList();
    }

    private interface Ends {
        List<Long> of(LockOperation operation);
    }

    private static List<HistoryEvent> withEnds(List<HistoryEvent> events, Ends ends) {
        List<HistoryEvent> all = new ArrayList<>(events);
        for (LockOperation operation : History.of(events).operations()) {
            if (operation.hasAcquired()) {
                ends.of(operation)
                        .forEach(end -> all.add(new HistoryEvent(
                                end,
                                operation.process(),
                                operation.number(),
                                What.INVALID,
                                null,
                                0,
                                0,
                                "by the campaign")));
            }
        }
        return all;
    }

    private static String id(String process, long operation) {
        return process + "#" + operation;
    }
}
