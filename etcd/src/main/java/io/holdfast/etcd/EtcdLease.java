package io.holdfast.etcd;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.PutOption;
import java.time.Duration;

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

    /** The lease duration counts from the time when the client began, which is not after its claim was sent. */
    Duration atMost(Duration asked, long startNanos) {
        Duration left = Duration.ofMillis(NANOSECONDS.toMillis(Math.max(leftNanos(startNanos), 1_000_000)));
        return left.compareTo(asked) < 0 ? left : asked;
    }

    /** How a key is written that ends with this lease. */
    PutOption attached() {
        return PutOption.builder().withLeaseId(id).build();
    }

    Op tombstone(Layout layout, String claimId) {
        return Op.put(layout.gone(claimId), ByteSequence.EMPTY, attached());
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
