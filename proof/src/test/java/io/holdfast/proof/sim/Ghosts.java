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

    /** Notes an answer of the server. The first words of the script name the operation. */
    void answered(String script, List<String> args, Object reply) {
        if (script.startsWith("-- Acquires and releases")) {
            mutexes(args, reply);
        } else if (script.startsWith("-- Takes")) {
            if (reply instanceof List<?> numbers && numbers.get(0).equals(1L)) {
                holds(args.get(0), "granted");
            }
        } else if (script.startsWith("-- Ends")) {
            // A release without a tombstone gives back a pushed grant.
            if (!args.get(3).equals("0")) {
                releasedAt.put(args.get(0), serverMicros.getAsLong());
            }
        } else if (script.startsWith("-- Sets") && reply instanceof List<?> numbers) {
            for (int i = 0; i < numbers.size(); i++) {
                if (numbers.get(i).equals(1L)) {
                    holds(args.get(2 * i), "renewed");
                }
            }
        }
    }

    /** Four arguments of each operation; one alone is answered without a list. */
    private void mutexes(List<String> args, Object reply) {
        int operations = args.size() / 4;
        for (int i = 0; i < operations; i++) {
            mutex(args.subList(4 * i, 4 * i + 4), operations == 1 ? reply : ((List<?>) reply).get(i));
        }
    }

    private void mutex(List<String> args, Object reply) {
        char what = args.get(1).charAt(0);
        if (what == 'A' || what == 'T' || what == 'a') {
            if (reply instanceof Long
                    || (reply instanceof List<?> numbers && numbers.get(0).equals(1L))) {
                holds(args.get(0), "granted");
            }
        } else if (reply instanceof Long && !args.get(3).endsWith(" 0")) { // and not refused, as by a replica
            releasedAt.put(args.get(0), serverMicros.getAsLong());
        }
    }

    private void holds(String claim, String how) {
        Long released = releasedAt.get(claim);
        if (released != null && serverMicros.getAsLong() - released < TOMBSTONE_MICROS) {
            world.defect("claim %s was %s after its release".formatted(claim, how), new IllegalStateException("ghost"));
        }
    }
}
