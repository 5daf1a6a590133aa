package io.holdfast.micrometer;

import io.holdfast.LockKind;
import io.micrometer.observation.Observation;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** The context of an observation of a lock, for conventions, handlers and filters. */
public final class LockObservationContext extends Observation.Context {

    /** The observed operation. */
    public enum Operation {
        /** {@code acquire()}, until the lease is emitted. */
        ACQUIRE,
        /** {@code tryAcquire()}, until the lease is emitted or the lock is not available. */
        TRY_ACQUIRE,
        /** {@code withLock} and {@code withLockMany}: the wait, the work and the release. */
        WITH_LOCK
    }

    /** How the observation ended. */
    public enum Outcome {
        /** It has not ended yet. */
        UNDER_WAY,
        /** The lease was emitted. */
        ACQUIRED,
        /** The lock was taken. */
        NOT_AVAILABLE,
        /** The work was done, and the lock released. */
        COMPLETED,
        /** The lock was not acquired within {@code waitTimeout}. */
        TIMEOUT,
        /** The lease was lost during the work. */
        LOST,
        /** The client was closed or drained before a lease was acquired. */
        CLOSED,
        /** The subscriber cancelled before there was a lease. */
        CANCELLED,
        /** The lock failed, because the back end failed or the acquisition was refused. */
        FAILED,
        /** The work ended with an error, and the lock was released. The observation has no error, since the lock worked as it should. */
        WORK_FAILED,
        /** The subscriber cancelled during the work; the lock is being released. */
        WORK_CANCELLED
    }

    private final Operation operation;
    private final String backend;
    private final String family;
    private final @Nullable LockKind kind;
    private final List<String> lockNames;

    /** Written by the thread that ends the observation. */
    private volatile Outcome outcome = Outcome.UNDER_WAY;

    /** Written by the thread that emits the lease; 0 before. */
    private volatile long fencingToken;

    LockObservationContext(
            Operation operation, String backend, String family, @Nullable LockKind kind, List<String> lockNames) {
        this.operation = operation;
        this.backend = backend;
        this.family = family;
        this.kind = kind;
        this.lockNames = List.copyOf(lockNames);
    }

    /**
     * Returns the observed operation.
     *
     * @return the operation, which never changes
     */
    public Operation operation() {
        return operation;
    }

    /**
     * Returns the name of the back end.
     *
     * @return the name
     */
    public String backend() {
        return backend;
    }

    /**
     * Returns the family of the lock: one of few.
     *
     * @return the family by {@link LockFamilies}
     */
    public String family() {
        return family;
    }

    /**
     * Returns the kind of the lock.
     *
     * @return the kind; empty for locks that are taken together
     */
    public Optional<LockKind> kind() {
        return Optional.ofNullable(kind);
    }

    /**
     * Returns the name of the lock: one of very many.
     *
     * @return the name; for locks that are taken together, their names, separated by commas
     */
    public String lockName() {
        return String.join(", ", lockNames);
    }

    boolean concerns(String lockName) {
        return lockNames.contains(lockName);
    }

    /**
     * Returns how the observation ended.
     *
     * @return {@link Outcome#UNDER_WAY} until it has ended
     */
    public Outcome outcome() {
        return outcome;
    }

    /**
     * Returns the token of the lease.
     *
     * @return the token; empty until there is a lease; for locks that are taken together, the token of the first lock
     */
    public OptionalLong fencingToken() {
        return fencingToken == 0 ? OptionalLong.empty() : OptionalLong.of(fencingToken);
    }

    void acquired(long token) {
        fencingToken = token;
    }

    void ended(Outcome end) {
        outcome = end;
    }
}
