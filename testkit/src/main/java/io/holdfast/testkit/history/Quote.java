package io.holdfast.testkit.history;

import java.util.Collection;
import java.util.Comparator;
import java.util.stream.Collectors;

/** Formats operations for a message: the first ones by time, each on a line. */
final class Quote {

    private static final int MOST = 8;

    private Quote() {}

    static String of(Collection<LockOperation> operations) {
        String lines = operations.stream()
                .sorted(Comparator.comparingLong(LockOperation::acquiredAt))
                .limit(MOST)
                .map(operation -> "  " + operation)
                .collect(Collectors.joining("\n"));
        return operations.size() > MOST ? lines + "\n  and " + (operations.size() - MOST) + " more" : lines;
    }
}
