package io.holdfast.proof.hostile;

import io.holdfast.proof.hostile.Clients.Standstill;
import io.holdfast.testkit.history.History;
import io.holdfast.testkit.history.HistoryEvent;
import io.holdfast.testkit.history.HistoryEvent.What;
import io.holdfast.testkit.history.LockOperation;
import io.holdfast.testkit.history.Violation;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What came of a campaign.
 *
 * @param hostile how long faults were injected
 * @param fromNanos when that began
 * @param troubles what went wrong with the faults themselves: then less was tried than planned
 * @param successions in that part of the history which is promised to exclude
 * @param unpromised overlaps and falling tokens that the gaps explain
 * @param taken writes that registers have taken
 * @param refused reads and writes that they have refused
 * @param counts what else is said of the faults
 * @param leftOut faults that this system cannot inject
 */
record Outcome(
        Campaign.Order order,
        Duration hostile,
        long fromNanos,
        List<Injected> injected,
        List<String> troubles,
        List<Gap> gaps,
        List<Standstill> standstills,
        History history,
        Successions successions,
        int unpromised,
        long taken,
        long refused,
        Map<String, Long> counts,
        List<String> leftOut,
        List<Violation> violations) {

    Map<FaultKind, Long> faults() {
        return injected.stream().collect(Collectors.groupingBy(Injected::kind, TreeMap::new, Collectors.counting()));
    }

    long operations() {
        return history.operations().size();
    }

    long grants() {
        return history.operations().stream().filter(LockOperation::hasAcquired).count();
    }

    /** By reason. */
    Map<String, Long> losses() {
        return notes(What.LOST);
    }

    /** How acquisitions ended without a lease. */
    Map<String, Long> endings() {
        return notes(What.ENDED);
    }

    private Map<String, Long> notes(What what) {
        return history.events().stream()
                .filter(event -> event.what() == what)
                .collect(Collectors.groupingBy(HistoryEvent::note, TreeMap::new, Collectors.counting()));
    }

    Unavailability unavailability() {
        return Unavailability.longest(history.operations(), standstills);
    }

    /** How often the whole machine stood still, so that nothing could happen. */
    long stalls() {
        return standstills.stream()
                .filter(still -> still.process().equals(Standstill.ALL))
                .count();
    }

    /** Where belief is not checked: its part of the time in which faults were injected. */
    double gapsShare() {
        long sum =
                gaps.stream().mapToLong(gap -> gap.toNanos() - gap.fromNanos()).sum();
        return (double) sum / hostile.toNanos();
    }
}
