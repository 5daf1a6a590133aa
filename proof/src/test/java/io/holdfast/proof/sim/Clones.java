package io.holdfast.proof.sim;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * In some schedules the first two processes are restored from one snapshot, whose client had no claim yet. They have one name for their channels. Their
 * claim ids differ, since each client draws new random bits after the restore.
 */
final class Clones {

    /** One of this many schedules has clones. */
    private static final int SELDOM = 8;

    private final World world;
    private final Map<Host, Integer> clones = new HashMap<>();
    private final boolean makeOtherIds;
    private int clients;

    Clones(World world, Plan plan, Store store, Mutant mutant, List<Host> hosts) {
        this.world = world;
        makeOtherIds = mutant.clonesMakeOtherIds();
        boolean areWanted = !plan.isTight()
                && store.mayHaveClones()
                && world.chancesOf("clones", 0).nextInt(SELDOM) == 0;
        if (areWanted) {
            hosts.subList(0, 2).forEach(host -> clones.put(host, 0));
        }
    }

    /**
     * Returns the identities of a client of this process, and of the clients that replace it. The first clients of two clones have the same identity. So
     * have the second ones.
     */
    Supplier<ClientIdentity> identitiesOf(Host host) {
        Integer number = clones.computeIfPresent(host, (clone, before) -> before + 1);
        Deque<ClientIdentity> restored = new ArrayDeque<>(number == null ? List.of() : List.of(ofSnapshot(number)));
        return () -> restored.isEmpty() ? another() : restored.remove();
    }

    private ClientIdentity another() {
        return new ClientIdentity("client" + ++clients, world::bits);
    }

    private ClientIdentity ofSnapshot(int number) {
        SplittableRandom kept = world.chancesOf("clones", number);
        LongSupplier bits = makeOtherIds ? world::bits : kept::nextLong;
        return new ClientIdentity("clone" + number, bits);
    }
}
