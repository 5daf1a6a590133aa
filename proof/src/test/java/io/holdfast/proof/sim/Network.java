package io.holdfast.proof.sim;

import java.util.HashMap;
import java.util.Map;

/** How long messages take, and where nothing gets through for a while: then what is sent waits, as TCP does, and comes later. */
public final class Network {

    /**
     * What a schedule makes of it.
     *
     * @param usualNanos so long a message takes at most, usually
     * @param replyNanos so much longer from a server, at most
     * @param slowChance how often it takes longer
     * @param slowNanos how long it takes then, at most
     */
    public record Manners(long usualNanos, long replyNanos, double slowChance, long slowNanos) {}

    private final World world;
    private final Map<String, Long> stalledUntil = new HashMap<>();
    private final Map<String, Long> lateness = new HashMap<>();
    private Manners manners;

    public Network(World world, Manners manners) {
        this.world = world;
        this.manners = manners;
    }

    public void manners(Manners other) {
        manners = other;
    }

    long delay() {
        long most = world.chance(manners.slowChance()) ? manners.slowNanos() : manners.usualNanos();
        return world.between(20_000, Math.max(20_000, most));
    }

    /** Every other thing that servers tell that process takes so long, or half of it, or anything between. */
    void hearsLate(String host, long nanos) {
        lateness.put(host, nanos);
    }

    /** Nothing gets through from one to the other for a while. */
    public void stall(String from, String to, long nanos) {
        world.trace("nothing gets from %s to %s for %.3f ms", from, to, nanos / 1e6);
        stalledUntil.put(from + '>' + to, world.now() + nanos);
    }

    /** Whether what is sent now arrives soon, in both directions. */
    boolean isOpenBetween(String one, String other) {
        return !isStalled(one, other) && !isStalled(other, one);
    }

    private boolean isStalled(String from, String to) {
        return stalledUntil.getOrDefault(from + '>' + to, 0L) > world.now();
    }

    public void heal() {
        stalledUntil.clear();
        lateness.clear();
    }

    /** When something arrives that is sent now. */
    long arrival(String from, String to, boolean isReply) {
        long way = world.now() + delay() + (isReply ? world.between(0, manners.replyNanos()) : 0);
        if (isReply && !lateness.isEmpty() && world.chance(0.5)) {
            long late = lateness.getOrDefault(to, 0L);
            way += world.between(late / 2, late);
        }
        Long until = stalledUntil.isEmpty() ? null : stalledUntil.get(from + '>' + to);
        return until == null || until <= world.now() ? way : Math.max(way, until + delay());
    }
}
