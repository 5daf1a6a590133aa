package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What each database must keep: no transaction of a former owner is committed after a later grant, and the fence passes no lease that has ended. Random
 * worlds of {@link FenceWorld} try it. For each mutant of the fence, a world with fixed steps finds it. {@code -Dholdfast.fence.worlds=1000} takes longer.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FenceContractIT {

    private static final int WORLDS = Integer.getInteger("holdfast.fence.worlds", 25);

    private Store store;

    Store newStore() {
        return Store.withSettings("max_prepared_transactions=20");
    }

    /** Returns the file with the fence, in the directory of the schema. */
    String dialect() {
        return "postgresql";
    }

    /** A change of the fence that must be found, and the steps that find it. */
    record Mutant(String name, Consumer<FenceWorld> steps, UnaryOperator<String> change) {
        @Override
        public String toString() {
            return name;
        }
    }

    static UnaryOperator<String> without(String part) {
        return with(part, "");
    }

    static UnaryOperator<String> with(String part, String other) {
        return text -> {
            assertThat(text).contains(part);
            return text.replace(part, other);
        };
    }

    List<Mutant> mutants() {
        return List.of(
                new Mutant("no lock of the row", FenceContractIT::laterGrant, with("\n     for key share;", ";")),
                new Mutant("no end of the lease", FenceContractIT::end, without("and expires_at > clock_timestamp() ")),
                new Mutant("no downgrade", FenceContractIT::downgrade, without(" and (p_checked or not wrote)")),
                new Mutant(
                        "no savepoints",
                        FenceContractIT::savepoint,
                        with("'ExclusiveLock') > 1", "'ExclusiveLock') > 99")));
    }

    /** The next grant comes before the commit. */
    static void laterGrant(FenceWorld world) {
        world.grant(LockKind.MUTEX, FenceWorld.LONG);
        world.fenced(false, true, "check");
        world.releaseLast();
        world.grant(LockKind.MUTEX, FenceWorld.LONG);
    }

    /** As before, after a rollback of the check. */
    static void savepoint(FenceWorld world) {
        world.grant(LockKind.MUTEX, FenceWorld.LONG);
        world.fenced(false, true, "savepoint s", "check", "rollback to savepoint s");
        world.releaseLast();
        world.grant(LockKind.MUTEX, FenceWorld.LONG);
    }

    /** The next grant comes between the two phases of the commit. */
    static void laterGrantAfterPrepare(FenceWorld world) {
        world.grant(LockKind.MUTEX, FenceWorld.LONG);
        world.fenced(true, false, "check");
        world.releaseLast();
        world.grant(LockKind.MUTEX, FenceWorld.LONG);
    }

    static void end(FenceWorld world) {
        world.grant(LockKind.MUTEX, FenceWorld.SHORT);
        world.awaitTheEndOfShortLeases();
        world.fenced(false, true, "check");
    }

    static void downgrade(FenceWorld world) {
        world.grant(LockKind.WRITE, FenceWorld.LONG);
        world.downgradeLast();
        world.fenced(false, false, "check");
    }

    @BeforeAll
    void start() {
        store = newStore();
        FenceWorld.prepare(store);
    }

    @AfterAll
    void stop() {
        if (store != null) {
            store.close();
        }
    }

    @Test
    void noFencedWriteIsCommittedAfterALaterGrant() {
        FenceWorld.Seen all = new FenceWorld.Seen();
        try (FenceWorld.Servers servers = new FenceWorld.Servers(store, "holdfast_fence_v1")) {
            for (int seed = 0; seed < WORLDS; seed++) {
                FenceWorld world = new FenceWorld(servers, seed, all);
                assertThat(world.violations()).as("seed %d: %s", seed, world).isEmpty();
            }
        }
        System.out.println("[fence] " + all);
        assertThat(all.grants).isGreaterThan(WORLDS);
        assertThat(all.commits).isGreaterThan(WORLDS / 2);
        assertThat(all.refusals).isGreaterThan(WORLDS / 4);
    }

    @ParameterizedTest
    @MethodSource("mutants")
    void mutantOfTheFenceIsFound(Mutant mutant) {
        store.execute(mutant.change().apply(fence()).replace("holdfast_fence_v1", "holdfast_mutant"));
        try (FenceWorld.Servers servers = new FenceWorld.Servers(store, "holdfast_mutant");
                FenceWorld.Servers whole = new FenceWorld.Servers(store, "holdfast_fence_v1")) {
            FenceWorld world = new FenceWorld(servers, mutant.steps());
            assertThat(world.violations()).as("violations in: %s", world).isNotEmpty();
            FenceWorld same = new FenceWorld(whole, mutant.steps());
            assertThat(same.violations()).as("without the mutant: %s", same).isEmpty();
        } finally {
            store.execute(drop());
        }
    }

    String drop() {
        return "drop function holdfast_mutant";
    }

    String fence() {
        String file = Store.schema(dialect());
        int start = file.indexOf("create function holdfast_fence_v1");
        return file.substring(start, file.indexOf("end $$;", start) + "end $$;".length());
    }
}
