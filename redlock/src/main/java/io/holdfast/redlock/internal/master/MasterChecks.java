package io.holdfast.redlock.internal.master;

import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.support.Printable;
import java.util.Collections;
import java.util.EnumSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/** Checks which back ends can be the masters of a Redlock, and which features they offer together. */
public final class MasterChecks {

    private static final int FEWEST = 3;

    private MasterChecks() {}

    /** Refuses masters that cannot have a majority, or whose tokens cannot be made to rise. */
    public static void check(List<LockBackend> masters) {
        int size = masters.size();
        if (size < FEWEST) {
            throw new IllegalArgumentException(
                    "masters must be at least three, was %d: fewer cannot lose one and still have a majority; use one master without RedlockBackend"
                            .formatted(size));
        }
        if (size % 2 == 0) {
            throw new IllegalArgumentException(
                    "masters must be an odd number, was %d: an even one survives no more failures than %d do, and two contenders can split it in halves; use %d or %d"
                            .formatted(size, size - 1, size - 1, size + 1));
        }
        Set<LockBackend> distinct = Collections.newSetFromMap(new IdentityHashMap<>());
        for (int i = 0; i < size; i++) {
            LockBackend master = masters.get(i);
            if (!distinct.add(master)) {
                throw new IllegalArgumentException(
                        "masters must be different stores, but number %d is there twice".formatted(i + 1));
            }
            if (!master.features().contains(LockFeature.TOKEN_FLOOR)) {
                throw new IllegalArgumentException(
                        "masters must offer TOKEN_FLOOR, but number %d, '%s', does not: its tokens cannot be made to rise over several masters; use it without RedlockBackend"
                                .formatted(i + 1, master.name()));
            }
        }
    }

    /** Warns if the application has not said how the masters restart safely. */
    public static void warnOfUnsafeRestarts(List<LockBackend> masters, List<String> names) {
        List<String> unsafe = IntStream.range(0, masters.size())
                .filter(i -> !masters.get(i).features().contains(LockFeature.SAFE_RESTART))
                .mapToObj(names::get)
                .toList();
        if (!unsafe.isEmpty()) {
            Masters.LOG.warn(
                    "masters without quarantine: {}; a master that restarts without its locks may grant one that is still held. "
                            + "Set quarantine of RedisLockBackend.Builder to the longest lease of all clients, or to zero "
                            + "if the master has appendonly yes and appendfsync always: docs/operate/redlock.md, Quarantine",
                    Printable.text(unsafe.toString()));
        }
    }

    /**
     * Returns the features of a lock over these masters. Not those of a queue: each master has one of its own, so two
     * masters could give a run to different clients.
     */
    public static Set<LockFeature> featuresOf(List<LockBackend> masters) {
        Set<LockFeature> common = EnumSet.of(LockFeature.TOKEN_FLOOR);
        for (LockFeature feature :
                List.of(LockFeature.READ_WRITE, LockFeature.HOLDERS, LockFeature.MIN_HOLD, LockFeature.DOWNGRADE)) {
            if (masters.stream().allMatch(it -> it.features().contains(feature))) {
                common.add(feature);
            }
        }
        return Collections.unmodifiableSet(common);
    }
}
