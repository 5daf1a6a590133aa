package io.holdfast.proof.hostile;

import io.holdfast.proof.hostile.Clients.Standstill;
import io.holdfast.testkit.history.LockOperation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The longest time without a grant, although a claim waited. A claim of a killed or frozen process does not count as a waiter. Pure.
 *
 * @param fromNanos the beginning of that time
 * @param length the length of that time; zero if no claim ever waited
 */
record Unavailability(long fromNanos, Duration length) {

    private record Span(long from, long to) {}

    static Unavailability longest(List<LockOperation> operations, List<Standstill> standstills) {
        List<Standstill> inOrder = standstills.stream()
                .sorted(Comparator.comparingLong(Standstill::fromNanos))
                .toList();
        List<Span> waits = merged(operations.stream()
                .flatMap(operation -> waits(operation, inOrder).stream())
                .sorted(Comparator.comparingLong(Span::from))
                .toList());
        long[] grants = operations.stream()
                .filter(LockOperation::hasAcquired)
                .mapToLong(LockOperation::acquiredAt)
                .sorted()
                .toArray();
        Span longest = new Span(0, 0);
        int next = 0;
        for (Span wait : waits) {
            long from = wait.from();
            while (next < grants.length && grants[next] <= wait.to()) {
                longest = longer(longest, new Span(from, Math.max(from, grants[next])));
                from = Math.max(from, grants[next++]);
            }
            longest = longer(longest, new Span(from, wait.to()));
        }
        return new Unavailability(longest.from(), Duration.ofNanos(longest.to() - longest.from()));
    }

    private static Span longer(Span one, Span other) {
        return other.to() - other.from() > one.to() - one.from() ? other : one;
    }

    /** Returns the waits of one operation, without the standstills of its process. */
    private static List<Span> waits(LockOperation operation, List<Standstill> standstills) {
        long end = Math.min(operation.acquiredAt(), operation.endedAt());
        List<Span> waits = new ArrayList<>();
        long from = operation.askedAt();
        // In the order of their starts.
        for (Standstill still : standstills) {
            boolean concerns = still.concerns(operation.process()) && still.toNanos() > from;
            if (concerns && still.fromNanos() < end) {
                waits.add(new Span(from, Math.max(from, still.fromNanos())));
                from = Math.max(from, still.toNanos());
            }
        }
        // An operation without an end, of a process that was not killed: its wait is unknown.
        if (from < end && end != LockOperation.NEVER) {
            waits.add(new Span(from, end));
        }
        return waits;
    }

    private static List<Span> merged(List<Span> sorted) {
        List<Span> merged = new ArrayList<>();
        for (Span span : sorted) {
            Span last = merged.isEmpty() ? null : merged.get(merged.size() - 1);
            if (last != null && span.from() <= last.to()) {
                merged.set(merged.size() - 1, new Span(last.from(), Math.max(last.to(), span.to())));
            } else {
                merged.add(span);
            }
        }
        return merged;
    }
}
