package io.holdfast.redis.internal.safety;

/**
 * The tracked key of a mutex that is held here.
 *
 * @param claimId the claim that holds it
 * @param attempt the attempt of the claim that got the lock; 0 for an adopted lease
 * @param pauseNanos the shortest time between two requests to watch the key, when other clients touch it
 * @param remindedAt the last request to watch the key, by the clock of the driver
 * @param touches how often the server has signalled a change since the grant or the last renewal
 */
record TrackedKey(String claimId, int attempt, long pauseNanos, long remindedAt, int touches) {

    /** So many verifications in a lease are enough, however often other clients touch the key. */
    private static final int MOST_PER_LEASE = 10;

    static TrackedKey of(String claimId, int attempt, long leaseNanos, long now) {
        return new TrackedKey(claimId, attempt, leaseNanos / MOST_PER_LEASE, now, 0);
    }

    TrackedKey touched() {
        return new TrackedKey(claimId, attempt, pauseNanos, remindedAt, touches + 1);
    }

    TrackedKey reminded(long now) {
        return new TrackedKey(claimId, attempt, pauseNanos, now, touches + 1);
    }

    /** True right after the first change: the first waiter makes one, since it sets the flag in the record. */
    boolean isReminderDue(long now) {
        return touches == 0 || now - remindedAt >= pauseNanos;
    }

    /**
     * Whether to request the watching again now. Without the pause, reads would never end with a table that is too
     * small.
     */
    boolean isDue(long now) {
        return touches < 2 || now - remindedAt >= pauseNanos;
    }
}
