package io.holdfast.proof.sim;

import java.util.HashMap;
import java.util.Map;

/** Delays messages, and cuts links for a while. Messages on a cut link arrive later, as with TCP. */
public final class Network {

    /**
     * The properties of the network in a schedule.
     *
     * @param usualNanos the usual longest delay of a message
     * @param replyNanos the longest additional delay of messages from a server
     * @param slowChance the probability of a slow message
     * @param slowNanos the longest delay of a slow message
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

    /** Delays half of the messages from servers to that process, chosen by chance, by half of the given time up to the whole of it. */
    void hearsLate(String host, long nanos) {
        lateness.put(host, nanos);
    }

    /** Cuts one direction between two hosts for a while. */
    public void stall(String from, String to, long nanos) {
        world.trace("nothing gets from %s to %s for %.3f ms", from, to, nanos / 1e6);
        stalledUntil.put(from + '>' + to, world.now() + nanos);
    }

    /** Returns whether both directions are open. */
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

    /** Returns the arrival time of a message that is sent now. */
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
