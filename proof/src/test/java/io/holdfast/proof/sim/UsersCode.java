package io.holdfast.proof.sim;

import java.util.SplittableRandom;

/**
 * The misbehaviour of users' code, wherever the product calls it: it blocks the thread, throws, or uses another lock. In calm weather, and in most
 * schedules, it does none of that.
 */
final class UsersCode {

    /** One of this many schedules has misbehaving users' code. */
    private static final int SELDOM = 4;

    /** The exception of users' code. */
    static final class Mistake extends RuntimeException {

        private static final long serialVersionUID = 1L;

        Mistake() {
            super("users' code threw", null, false, false);
        }
    }

    private final Host host;
    private final long lease;
    private final long until;
    private final SplittableRandom chances;
    private final Runnable usesAnotherLock;
    private final boolean isFaulty;

    /** Makes the users' code of one user. The use of another lock must not wait. */
    UsersCode(Host host, Plan plan, int number, Runnable usesAnotherLock) {
        this.host = host;
        this.usesAnotherLock = usesAnotherLock;
        lease = plan.lease().toNanos();
        until = plan.leases() * lease;
        chances = host.world().chancesOf("users' code", number);
        isFaulty = isFaulty(host.world(), plan);
    }

    /** Returns whether users' code of this schedule misbehaves. */
    static boolean isFaulty(World world, Plan plan) {
        return !plan.isTight()
                && !plan.is(Plan.Weather.CALM)
                && world.chancesOf("users' code", -1).nextInt(SELDOM) == 0;
    }

    /** Returns whether signals of this process are delivered on a thread of their own. */
    static boolean delivers(World world, Plan plan, Host host) {
        return isFaulty(world, plan)
                && world.chancesOf("delivery", host.name().hashCode()).nextBoolean();
    }

    /** The product calls users' code, which may block, or use another lock. */
    void isCalled() {
        if (!isFaulty) {
            return;
        }
        switch (chances.nextInt(8)) {
            case 0 -> block(lease / 20);
            case 1 -> block(2 * lease);
            case 2 -> usesAnotherLock.run();
            default -> {}
        }
    }

    private void block(long most) {
        long nanos = Math.min(chances.nextLong(1, most), until - host.world().now());
        if (nanos > 0) {
            host.block(nanos);
        }
    }

    /** Does the same as {@link #isCalled}, and sometimes throws after that. */
    void isCalledAndMayThrow() {
        isCalled();
        if (isFaulty && chances.nextInt(6) == 0) {
            throw new Mistake();
        }
    }

    /** Returns whether it takes many elements, one by one, instead of one result. */
    boolean streams() {
        return isFaulty && chances.nextInt(3) == 0;
    }

    /** Returns the time that it takes for an element. */
    long pauseNanos() {
        return chances.nextLong(1, chances.nextInt(5) == 0 ? lease : lease / 20);
    }

    /** Returns the number of elements that it takes. */
    int elements() {
        return 1 + chances.nextInt(6);
    }

    /** Returns whether it leaves now. */
    boolean leaves() {
        return chances.nextInt(12) == 0;
    }
}
