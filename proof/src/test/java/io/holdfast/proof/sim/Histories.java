package io.holdfast.proof.sim;

import io.holdfast.testkit.history.History;
import java.util.List;
import java.util.stream.LongStream;

/** Histories of schedules in which no two may hold a lock. */
public final class Histories {

    private Histories() {}

    /** Runs schedules of the product, and leaves out those that break the assumptions of exclusion. */
    public static List<History> of(String store, long firstSeed, int schedules) {
        return of(StoreKind.valueOf(store), firstSeed, schedules, Mutant.NONE);
    }

    /** Runs schedules of one of the mutants in memory. */
    public static List<History> ofMutant(String name, long firstSeed, int schedules) {
        return of(StoreKind.MEMORY, firstSeed, schedules, Mutants.inMemory(name));
    }

    private static List<History> of(StoreKind kind, long firstSeed, int schedules, Mutant mutant) {
        return LongStream.range(firstSeed, firstSeed + schedules)
                .boxed()
                .flatMap(seed -> Schedule.history(kind, seed, mutant).stream())
                .toList();
    }
}
