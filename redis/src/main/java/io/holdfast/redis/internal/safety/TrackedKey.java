package io.holdfast.redis.internal.safety;

/**
 * What is known of the key of a mutex that is held here.
 *
 * @param claimId the claim that holds it
 * @param pauseNanos the shortest time between two reminders of the server, when other clients touch the key
 * @param remindedAt when the server was last asked to watch the key, by the clock of the driver
 * @param touches how often the server has told of a change since the grant or the last renewal
 */
record TrackedKey(String claimId, long pauseNanos, long remindedAt, int touches) {

    /** However often others touch the key, so many verifications in a lease are enough. */
    private static final int MOST_PER_LEASE = 10;

    static TrackedKey of(String claimId, long leaseNanos, long now) {
        return new TrackedKey(claimId, leaseNanos / MOST_PER_LEASE, now, 0);
    }

    TrackedKey touched() {
        return new TrackedKey(claimId, pauseNanos, remindedAt, touches + 1);
    }

    TrackedKey reminded(long now) {
        return new TrackedKey(claimId, pauseNanos, now, touches + 1);
    }

    /** After the first change at once: the first waiter makes one, since it sets the flag in the record. */
    boolean isReminderDue(long now) {
        return touches == 0 || now - remindedAt >= pauseNanos;
    }

    /** Whether the server is to be asked again now. Without the pause, a table that is too small would never come to rest. */
    boolean isDue(long now) {
        return touches < 2 || now - remindedAt >= pauseNanos;
    }
}
