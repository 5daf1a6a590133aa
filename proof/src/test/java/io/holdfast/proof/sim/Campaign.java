package io.holdfast.proof.sim;

import io.holdfast.testkit.history.Violation;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Runs many schedules, one seed after the other. */
record Campaign(StoreKind kind, Mutant mutant, long firstSeed, long schedules) {

    /** A campaign prints its progress after each of this many schedules. */
    private static final long TOLD = 10_000;

    /** The highest number of violations that are printed. */
    private static final int MOST_FAILURES = 20;

    /** The result of all schedules. */
    record Report(
            StoreKind kind,
            long schedules,
            long acquired,
            long lost,
            long steps,
            double seconds,
            List<Schedule.Result> failures) {

        List<Violation> violations() {
            return failures.stream().flatMap(it -> it.violations().stream()).toList();
        }

        @Override
        public String toString() {
            String counts = "%s: %d schedules in %.1f s, %d leases, %d losses, %d steps, %d schedules with violations"
                    .formatted(kind, schedules, seconds, acquired, lost, steps, failures.size());
            return failures.stream()
                    .map(it -> "%nseed %d (replay: -Dproof.store=%s -Dproof.seed=%d -Dproof.schedules=1):%n%s"
                            .formatted(
                                    it.seed(),
                                    kind,
                                    it.seed(),
                                    it.violations().stream()
                                            .limit(5)
                                            .map(Violation::toString)
                                            .collect(Collectors.joining("\n"))))
                    .collect(Collectors.joining("", counts, ""));
        }
    }

    /** Returns the number of schedules by the system properties, or by default enough for a few seconds. */
    static Campaign of(StoreKind kind) {
        String chosen = System.getProperty("proof.store", kind.name());
        long schedules = chosen.equals(kind.name()) ? Long.getLong("proof.schedules", kind.usualSchedules()) : 0;
        return new Campaign(kind, Mutant.NONE, Long.getLong("proof.seed", 0), schedules);
    }

    Report run() {
        long begun = System.nanoTime();
        long acquired = 0;
        long lost = 0;
        long steps = 0;
        long done = 0;
        List<Schedule.Result> failures = new ArrayList<>();
        for (; done < schedules && failures.size() < MOST_FAILURES; done++) {
            Schedule.Result result = Schedule.run(kind, firstSeed + done, mutant, schedules == 1);
            acquired += result.acquired();
            lost += result.lost();
            steps += result.steps();
            if (!result.violations().isEmpty()) {
                failures.add(result);
            }
            result.trace().forEach(System.out::println);
            if ((done + 1) % TOLD == 0 && done + 1 < schedules) {
                System.out.println(new Report(kind, done + 1, acquired, lost, steps, seconds(begun), failures));
            }
        }
        return new Report(kind, done, acquired, lost, steps, seconds(begun), failures);
    }

    private static double seconds(long begun) {
        return (System.nanoTime() - begun) / 1e9;
    }
}
