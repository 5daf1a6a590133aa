package io.holdfast.proof.sim;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Finds claims that hold a lock at a server after they were released there: a request outlived its withdrawal. No user believes in such a lease, so no
 * history shows it, but it keeps the lock from all others. A request that arrives after the end of the tombstone does not count. The server's clock
 * decides that: a clock that jumps ahead ends its tombstones early.
 */
final class Ghosts {

    private static final long TOMBSTONE_MICROS = 25_000_000;

    private final World world;
    private final LongSupplier serverMicros;
    private final Map<String, Long> releasedAt = new HashMap<>();

    Ghosts(World world, LongSupplier serverMicros) {
        this.world = world;
        this.serverMicros = serverMicros;
    }

    void forget() {
        releasedAt.clear();
    }

    /** Notes an answer of the server. The first words of the script name the operations. A renewal shows nothing: that of a run names its first member, which may have left. */
    void answered(String script, List<String> args, Object reply) {
        if (script.startsWith("-- All about ")) {
            operations(args, reply);
        } else if (!script.startsWith("-- Sets ") && !script.startsWith("-- Whether ")) {
            throw new IllegalArgumentException(
                    "another script: " + script.lines().findFirst());
        }
    }

    /** Four arguments of each operation; one alone is answered without a list. */
    private void operations(List<String> args, Object reply) {
        int operations = args.size() / 4;
        for (int i = 0; i < operations; i++) {
            operation(args.subList(4 * i, 4 * i + 4), operations == 1 ? reply : ((List<?>) reply).get(i));
        }
    }

    private void operation(List<String> args, Object reply) {
        boolean isRefused = reply instanceof List<?> parts && parts.size() == 2;
        switch (args.get(1).charAt(0)) {
            case 'A', 'T', 'a' -> {
                if (reply instanceof Long
                        || (reply instanceof List<?> numbers && numbers.get(0).equals(1L))) {
                    holds(args.get(0));
                }
            }
            case 'R', 'r' -> {
                // Without a tombstone, it gives back a pushed grant.
                if (!isRefused && !args.get(3).endsWith(" 0")) {
                    releasedAt.put(args.get(0), serverMicros.getAsLong());
                }
            }
            case 'B' -> {
                if (!isRefused && !reply.equals(0L)) {
                    releasedAt.put(args.get(0), serverMicros.getAsLong());
                }
            }
            default -> {
                // The end of a run, or an adoption.
            }
        }
    }

    private void holds(String claim) {
        Long released = releasedAt.get(claim);
        if (released != null && serverMicros.getAsLong() - released < TOMBSTONE_MICROS) {
            world.defect("claim %s was granted after its release".formatted(claim), new IllegalStateException("ghost"));
        }
    }
}
