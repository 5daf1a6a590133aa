package io.holdfast.micrometer;

import io.micrometer.observation.Observation;
import java.util.List;
import java.util.OptionalLong;

/** What an observation of a lock knows, for conventions, handlers and filters. */
public final class LockObservationContext extends Observation.Context {

    /** What is observed. */
    public enum Operation {
        /** {@code acquire()}, until the lease is emitted. */
        ACQUIRE,
        /** {@code tryAcquire()}, until the lease is emitted or there is none. */
        TRY_ACQUIRE,
        /** {@code withLock} and {@code withLockMany}: the wait, the work and the release. */
        WITH_LOCK
    }

    /** How it ended. */
    public enum Outcome {
        /** It has not. */
        UNKNOWN,
        /** The lease was emitted. */
        ACQUIRED,
        /** The lock was taken. */
        NOT_AVAILABLE,
        /** The work was done, and the lock released. */
        COMPLETED,
        /** Nothing was acquired within {@code waitTimeout}. */
        TIMEOUT,
        /** The lease was lost during the work. */
        LOST,
        /** The client was closed before a lease was acquired. */
        CLOSED,
        /** The subscriber cancelled before there was a lease. */
        CANCELLED,
        /** The lock failed: the back end did, or the acquisition was refused. */
        FAILED,
        /** The work ended with an error, and the lock was released. The observation has no error: the lock did what it should. */
        WORK_FAILED,
        /** The subscriber cancelled during the work; the lock is being released. */
        WORK_CANCELLED
    }

    private final Operation operation;
    private final String backend;
    private final String family;
    private final List<String> lockNames;

    /** Written by the thread that ends the observation. */
    private volatile Outcome outcome = Outcome.UNKNOWN;

    /** Written by the thread that brings the lease; 0 before. */
    private volatile long fencingToken;

    LockObservationContext(Operation operation, String backend, String family, List<String> lockNames) {
        this.operation = operation;
        this.backend = backend;
        this.family = family;
        this.lockNames = List.copyOf(lockNames);
    }

    /**
     * What is observed.
     *
     * @return the same for the life of the observation
     */
    public Operation operation() {
        return operation;
    }

    /**
     * The back end.
     *
     * @return its name
     */
    public String backend() {
        return backend;
    }

    /**
     * The family of the lock: one of few.
     *
     * @return as {@link LockFamilies} says
     */
    public String family() {
        return family;
    }

    /**
     * The lock: one of very many.
     *
     * @return its name; of locks that are taken together, their names, with commas
     */
    public String lockName() {
        return String.join(", ", lockNames);
    }

    boolean concerns(String lockName) {
        return lockNames.contains(lockName);
    }

    /**
     * How it ended.
     *
     * @return {@link Outcome#UNKNOWN} until it has
     */
    public Outcome outcome() {
        return outcome;
    }

    /**
     * The token of the lease.
     *
     * @return empty until there is a lease; of locks that are taken together, that of the first
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
