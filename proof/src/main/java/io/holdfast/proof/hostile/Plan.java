package io.holdfast.proof.hostile;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/**
 * Which fault comes next, when, how long it lasts, and whom it hits: decided by the seed alone. Kinds come as cards of a deck that is shuffled
 * anew when it is empty, so that each of them comes.
 */
final class Plan {

    private final Random random;
    private final List<FaultKind> kinds;
    private final Duration lease;
    private final Duration longestGap;
    private final Deque<FaultKind> deck = new ArrayDeque<>();

    /**
     * The plan of one field.
     *
     * @param kinds those that this back end can be hit by
     * @param lease what the times of the kinds are multiples of
     * @param longestGap pauses between two faults are from a tenth of it on
     */
    Plan(long seed, List<FaultKind> kinds, Duration lease, Duration longestGap) {
        random = new Random(seed);
        this.kinds = List.copyOf(kinds);
        this.lease = lease;
        this.longestGap = longestGap;
    }

    /**
     * A fault that is to come.
     *
     * @param kind what is done
     * @param gap the pause before it
     * @param time how long it lasts
     * @param choice not negative: whom it hits, and how, is this number modulo the possibilities
     */
    record Planned(FaultKind kind, Duration gap, Duration time, int choice) {}

    List<FaultKind> kinds() {
        return kinds;
    }

    Planned next() {
        if (deck.isEmpty()) {
            List<FaultKind> shuffled = new ArrayList<>(kinds);
            Collections.shuffle(shuffled, random);
            deck.addAll(shuffled);
        }
        FaultKind kind = deck.remove();
        double gap = 0.1 + 0.9 * random.nextDouble();
        // Squared: most are short, and some are as long as can be.
        double part = random.nextDouble() * random.nextDouble();
        double leases = kind.shortest() + part * (kind.longest() - kind.shortest());
        return new Planned(kind, times(longestGap, gap), times(lease, leases), random.nextInt(Integer.MAX_VALUE));
    }

    private static Duration times(Duration unit, double factor) {
        return Duration.ofNanos((long) (unit.toNanos() * factor));
    }
}
