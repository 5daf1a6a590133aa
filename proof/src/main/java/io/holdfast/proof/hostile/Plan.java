package io.holdfast.proof.hostile;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/**
 * Decides which fault comes next, when, how long it lasts, and what it hits, by the seed alone. Kinds are dealt like cards from a deck, which is
 * shuffled again when it is empty, so that each kind comes.
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
     * @param kinds the kinds of faults that this back end can suffer
     * @param lease the lease duration: the times of the kinds are multiples of it
     * @param longestGap the longest pause between two faults; the shortest is a tenth of it
     */
    Plan(long seed, List<FaultKind> kinds, Duration lease, Duration longestGap) {
        random = new Random(seed);
        this.kinds = List.copyOf(kinds);
        this.lease = lease;
        this.longestGap = longestGap;
    }

    /**
     * A planned fault.
     *
     * @param kind the kind of fault
     * @param gap the pause before it
     * @param time how long it lasts
     * @param choice not negative; this number modulo the possibilities decides what the fault hits, and how
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
        // Squared: most faults are short, and some take the longest time.
        double part = random.nextDouble() * random.nextDouble();
        double leases = kind.shortest() + part * (kind.longest() - kind.shortest());
        return new Planned(kind, times(longestGap, gap), times(lease, leases), random.nextInt(Integer.MAX_VALUE));
    }

    private static Duration times(Duration unit, double factor) {
        return Duration.ofNanos((long) (unit.toNanos() * factor));
    }
}
