package io.holdfast.redis;

/**
 * What is known of the key of a mutex that is held here.
 *
 * @param claimId the claim that holds it
 * @param pauseNanos the shortest time between two reminders of the server, when other clients touch the key
 * @param remindedAt when the server was last asked to watch the key, by the clock of the driver
 * @param isTouched whether the server has told of a change since
 */
record HeldKey(String claimId, long pauseNanos, long remindedAt, boolean isTouched) {

    /** However often others touch the key, so many verifications in a lease are enough. */
    private static final int MOST_PER_LEASE = 10;

    static HeldKey of(String claimId, long leaseNanos, long now) {
        return new HeldKey(claimId, leaseNanos / MOST_PER_LEASE, now, false);
    }

    HeldKey touched() {
        return new HeldKey(claimId, pauseNanos, remindedAt, true);
    }

    HeldKey reminded(long now) {
        return new HeldKey(claimId, pauseNanos, now, false);
    }

    boolean isReminderDue(long now) {
        return now - remindedAt >= pauseNanos;
    }

    /** Whether the server is to be asked again now. Without the pause, a table that is too small would never come to rest. */
    boolean isDue(long now) {
        return !isTouched || now - remindedAt >= pauseNanos;
    }
}
