package io.holdfast.proof.hostile;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * A period in which the back end may lose grants by design: see {@link Deployment#gaps}.
 *
 * @param fromNanos before the fault was injected
 * @param toNanos when no lost grant could be granted or renewed any more
 */
record Gap(long fromNanos, long toNanos) {

    /** Merges gaps into one list in the order of time, without overlaps. */
    static List<Gap> merged(List<Gap> some, List<Gap> others) {
        List<Gap> merged = new ArrayList<>();
        Stream.concat(some.stream(), others.stream())
                .sorted(Comparator.comparingLong(Gap::fromNanos))
                .forEach(next -> {
                    Gap last = merged.isEmpty() ? null : merged.get(merged.size() - 1);
                    if (last == null || last.toNanos() < next.fromNanos()) {
                        merged.add(next);
                    } else {
                        merged.set(
                                merged.size() - 1, new Gap(last.fromNanos(), Math.max(last.toNanos(), next.toNanos())));
                    }
                });
        return List.copyOf(merged);
    }
}
