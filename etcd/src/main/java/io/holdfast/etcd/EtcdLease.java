package io.holdfast.etcd;

/** A lease of etcd that this client keeps alive. Many places are attached to it. */
final class EtcdLease {

    private final long id;

    /** By the scheduler's clock: etcd keeps the lease at least until then. Written by {@link Leases}. */
    private volatile long validUntilNanos;

    /** Whether etcd says that it does not exist any more. Written by {@link Leases}, once. */
    private volatile boolean hasEnded;

    EtcdLease(long id, long validUntilNanos) {
        this.id = id;
        this.validUntilNanos = validUntilNanos;
    }

    long id() {
        return id;
    }

    long leftNanos(long nowNanos) {
        return hasEnded ? 0 : validUntilNanos - nowNanos;
    }

    boolean hasEnded() {
        return hasEnded;
    }

    void extend(long untilNanos) {
        validUntilNanos = untilNanos;
    }

    void end() {
        hasEnded = true;
    }
}
