package io.holdfast.proof.hostile;

import java.time.Duration;
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
     * Whatever a world can suffer, for so long.
     *
     * @param time after which no other fault comes
     */
    record Lasting(Duration time) implements Size {

        @Override
        public List<FaultKind> of(List<FaultKind> kinds) {
            return kinds;
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
