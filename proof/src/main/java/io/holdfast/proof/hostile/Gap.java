package io.holdfast.proof.hostile;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * A time in which the back end may forget what it has granted, by design: see {@link Deployment#gaps}.
 *
 * @param fromNanos before anything was done
 * @param toNanos when what was forgotten could no longer be granted or renewed
 */
record Gap(long fromNanos, long toNanos) {

    /** As one list in the order of time, in which none overlaps another. */
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
