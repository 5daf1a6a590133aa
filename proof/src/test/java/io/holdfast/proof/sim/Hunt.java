package io.holdfast.proof.sim;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Counts the schedules until a mutant is caught. */
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

    /**
     * Prints for each mutant of a store how many schedules it takes, from each of the given seeds: {@code Hunt REDIS 1000 0 10000 20000}
     * tries at most a thousand.
     */
    public static void main(String[] args) {
        StoreKind store = StoreKind.valueOf(args[0]);
        int most = Integer.parseInt(args[1]);
        Stream.of(
                        Mutants.ofMemory(),
                        Mutants.ofRedis(),
                        Mutants.ofCluster(),
                        Mutants.ofRedlock(),
                        Mutants.ofZooKeeper(),
                        Mutants.ofPostgresql(),
                        Mutants.ofEtcd(),
                        Mutants.ofHandOver(),
                        Mutants.foundSeldom())
                .flatMap(List::stream)
                .filter(hunt -> hunt.kind() == store)
                .forEach(hunt -> {
                    System.out.printf("%-40s", hunt.mutant());
                    for (String first : List.of(args).subList(2, args.length)) {
                        long seed = Long.parseLong(first);
                        System.out.printf(
                                "%14s",
                                new Hunt(store, hunt.mutant(), seed, most)
                                        .run()
                                        .map(caught -> Long.toString(caught.seed() - seed + 1))
                                        .orElse("not caught"));
                    }
                    System.out.println();
                });
    }
}
