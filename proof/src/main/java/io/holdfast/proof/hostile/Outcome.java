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
 * The result of a campaign.
 *
 * @param hostile the time in which faults were injected
 * @param fromNanos when that time began
 * @param troubles faults that could not be injected or repaired: then the campaign tried less than planned
 * @param promised the part of the history in which exclusion is promised
 * @param unpromised overlaps and falling tokens that the gaps explain
 * @param taken how many writes the registers accepted
 * @param refused how many reads and writes they refused
 * @param counts further counts about the faults, by name
 * @param leftOut the faults that this machine cannot inject
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
        History promised,
        int unpromised,
        long taken,
        long refused,
        Map<String, Long> counts,
        List<String> leftOut,
        List<Violation> violations) {

    Map<FaultKind, Long> faults() {
        return injected.stream().collect(Collectors.groupingBy(Injected::kind, TreeMap::new, Collectors.counting()));
    }

    Successions successions() {
        return Successions.of(promised);
    }

    long operations() {
        return history.operations().size();
    }

    long grants() {
        return history.operations().stream().filter(LockOperation::hasAcquired).count();
    }

    /** Counts the losses by reason. */
    Map<String, Long> losses() {
        return notes(What.LOST);
    }

    /** Counts the acquisitions without a lease by the way they ended. */
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

    /** Counts how often the whole machine stood still, so that no request could be answered. */
    long stalls() {
        return standstills.stream()
                .filter(still -> still.process().equals(Standstill.ALL))
                .count();
    }

    /** Returns the share of the campaign's time in which exclusion is not checked. */
    double gapsShare() {
        long sum =
                gaps.stream().mapToLong(gap -> gap.toNanos() - gap.fromNanos()).sum();
        return (double) sum / hostile.toNanos();
    }
}
