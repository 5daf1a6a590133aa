package io.holdfast.proof.sim;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** How many schedules it takes until a mutant is caught. */
record Hunt(StoreKind kind, Mutant mutant, long firstSeed, int most) {

    /** The first schedule that breaks a promise. */
    Optional<Schedule.Result> run() {
        for (long seed = firstSeed; seed < firstSeed + most; seed++) {
            Schedule.Result result = Schedule.run(kind, seed, mutant, false);
            if (!result.violations().isEmpty()) {
                return Optional.of(result);
            }
        }
        return Optional.empty();
    }

    @Override
    public String toString() {
        return kind + " " + mutant;
    }

    /** Tells of each mutant of a store by which seed it is caught: {@code Hunt REDIS 0 1000}, or of one: {@code Hunt REDIS 0 1000 name}. */
    public static void main(String[] args) {
        StoreKind store = StoreKind.valueOf(args[0]);
        List<Hunt> hunts = Stream.of(Mutants.ofRedis(), Mutants.ofRedlock(), Mutants.ofZooKeeper(), Mutants.hidden())
                .flatMap(List::stream)
                .filter(hunt -> hunt.kind() == store)
                .toList();
        for (Hunt hunt : hunts) {
            if (args.length > 3 && !hunt.mutant().name().equals(args[3])) {
                continue;
            }
            long begun = System.nanoTime();
            Optional<Schedule.Result> caught =
                    new Hunt(hunt.kind(), hunt.mutant(), Long.parseLong(args[1]), Integer.parseInt(args[2])).run();
            System.out.printf(
                    "%-40s %s (%.1f s)%n",
                    hunt.mutant(),
                    caught.map(it -> "seed " + it.seed() + ": "
                                    + it.violations()
                                            .get(0)
                                            .toString()
                                            .lines()
                                            .findFirst()
                                            .orElse(""))
                            .orElse("NOT CAUGHT"),
                    (System.nanoTime() - begun) / 1e9);
        }
    }
}
