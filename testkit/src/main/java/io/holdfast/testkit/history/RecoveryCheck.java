package io.holdfast.testkit.history;

import io.holdfast.testkit.history.HistoryEvent.What;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Checks the recovery: after the faults have ended, each acquisition gets the lock in bounded time, and the back end
 * keeps nothing at the end. It is no violation if the own process gave the acquisition up before that time, or if the
 * acquisition still waited when the history ended before that time. An acquisition that {@link #FAILED} is a violation.
 */
public final class RecoveryCheck implements HistoryCheck {

    /** The note of an acquisition that failed with an error of the lock; see {@link HistoryRecorder#ended}. */
    public static final String FAILED = "failed";

    private final Duration limit;

    /**
     * Makes the check.
     *
     * @param limit the longest time for an acquisition that was requested after {@link What#FAULTS_ENDED}
     */
    public RecoveryCheck(Duration limit) {
        this.limit = limit;
    }

    @Override
    public List<Violation> violations(History history) {
        List<Violation> found = new ArrayList<>();
        for (HistoryEvent event : history.events()) {
            if (event.what() == What.LEFT) {
                found.add(new Violation(
                        "recovery", "left at the back end: %s (%s)".formatted(event.note(), event.line())));
            }
        }
        OptionalLong calm = end(history);
        if (calm.isPresent()) {
            late(history, calm.getAsLong(), found);
            failed(history, calm.getAsLong(), found);
        }
        return found;
    }

    private static OptionalLong end(History history) {
        return history.events().stream()
                .filter(event -> event.what() == What.FAULTS_ENDED)
                .mapToLong(HistoryEvent::nanos)
                .max();
    }

    private void late(History history, long calm, List<Violation> found) {
        long last = history.events().get(history.events().size() - 1).nanos();
        history.operations().stream()
                .filter(operation -> operation.askedAt() >= calm)
                .filter(operation ->
                        Math.min(Math.min(operation.acquiredAt(), operation.endedAt()), last) - operation.askedAt()
                                > limit.toNanos())
                .forEach(operation -> found.add(new Violation(
                        "recovery",
                        "no lease within %s after the faults had ended at %d:%n  %s"
                                .formatted(limit, calm, operation))));
    }

    private static void failed(History history, long calm, List<Violation> found) {
        Set<List<Object>> asked = new HashSet<>();
        for (HistoryEvent event : history.events()) {
            List<Object> id = List.of(event.process(), event.operation());
            if (event.what() == What.ASKED && event.nanos() >= calm) {
                asked.add(id);
            } else if (event.what() == What.ENDED && event.note().startsWith(FAILED) && asked.contains(id)) {
                found.add(new Violation(
                        "recovery", "failed after the faults had ended at %d: %s".formatted(calm, event.line())));
            }
        }
    }
}
