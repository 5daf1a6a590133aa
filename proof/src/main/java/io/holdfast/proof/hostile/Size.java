package io.holdfast.proof.hostile;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** How much a campaign does. */
sealed interface Size {

    /** Which of these kinds come. */
    List<FaultKind> of(List<FaultKind> kinds);

    /** Whether another fault is to come into a field. */
    boolean allows(int done, int kinds, long sinceStartNanos);

    /** What the pauses between two faults are multiplied by. */
    double pace();

    /**
     * Whatever a world can suffer, for so long; some of it more often.
     *
     * @param time after which no other fault comes
     */
    record Lasting(Duration time) implements Size {

        /** Those come three times as often as others: a promise stands or falls with them. */
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
     * Each of these kinds once, in the order that the seed gives, at short intervals: as many on a slow machine.
     *
     * @param kinds those that a world does not know are left out
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
