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
 * Turns what the processes wrote down, and what was done to them, into the history that is to be checked. Pure.
 *
 * <ul>
 *   <li>A process that was killed believes in nothing from then on. One that was frozen goes on to believe.
 *   <li>Where the back end may have forgotten, by design, what was granted before ends with the beginning of that {@link Gap}; and what was
 *       handed out later, but may have been granted before its end, is left out. The latter is known by the validity: it counts from
 *       the sending of the request, so one that ends more than a lease after the gap was asked for after it.
 * </ul>
 */
final class Evidence {

    private final List<HistoryEvent> events;
    private final List<Standstill> standstills;

    Evidence(List<HistoryEvent> events, List<Standstill> standstills) {
        this.events = List.copyOf(events);
        this.standstills = List.copyOf(standstills);
    }

    /** All that was seen. */
    History all() {
        return History.of(withEnds(events, this::endsOfKilled));
    }

    /** What must exclude each other, and whose tokens must rise. */
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
