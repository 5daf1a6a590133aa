package io.holdfast.proof.hostile;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The faults of a campaign, and its end. */
sealed interface Size {

    /** Returns the kinds that come, out of the given ones. */
    List<FaultKind> of(List<FaultKind> kinds);

    /** Returns whether a field gets another fault. */
    boolean allows(int done, int kinds, long sinceStartNanos);

    /** Returns the factor for the pauses between two faults. */
    double pace();

    /**
     * Injects all faults that the back end can suffer, for the given time; some of them more often.
     *
     * @param time after which no new fault begins
     */
    record Lasting(Duration time) implements Size {

        /** The kinds that come three times as often as others: the promises depend most on them. */
        private static final Set<FaultKind> TELLING =
                Set.of(FaultKind.MAJORITY_EMPTIED, FaultKind.MASTER_FROZEN, FaultKind.LEADER_FROZEN);

        @Override
        public List<FaultKind> of(List<FaultKind> kinds) {
            List<FaultKind> often = new ArrayList<>(kinds);
            kinds.stream().filter(TELLING::contains).forEach(kind -> often.addAll(List.of(kind, kind)));
            return often;
        }

        @Override
        public boolean allows(int done, int kinds, long sinceStartNanos) {
            return sinceStartNanos < time.toNanos();
        }

        @Override
        public double pace() {
            return 1;
        }
    }

    /**
     * Injects each of these kinds once, in the order of the seed, at short intervals. A slow machine injects as many.
     *
     * @param kinds the kinds; those that the back end cannot suffer are left out
     */
    record Once(Set<FaultKind> kinds) implements Size {

        @Override
        public List<FaultKind> of(List<FaultKind> all) {
            return all.stream().filter(kinds::contains).toList();
        }

        @Override
        public boolean allows(int done, int known, long sinceStartNanos) {
            return done < known;
        }

        @Override
        public double pace() {
            return 0.15;
        }
    }
}
