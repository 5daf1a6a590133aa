package io.holdfast.proof.sim;

import io.holdfast.spi.LockBackend;
import java.util.List;
import java.util.function.BooleanSupplier;

/** The servers of a schedule, with a back end for each process. */
interface Store {

    /** Makes the back end of one client of a process. */
    LockBackend backend(Host host, ClientIdentity identity);

    List<? extends Server> servers();

    /** Returns masters with a replica, which may change places. */
    default List<RedisPair> pairs() {
        return List.of();
    }

    /** Returns whether locks are granted first come, first served. */
    default boolean isFair() {
        return true;
    }

    /** Returns whether turns of processes are first come, first served, if processes hand locks over. */
    default boolean hasFairTurns() {
        return false;
    }

    /** Returns the highest number of owners in a turn. */
    default int mostPerTurn() {
        return 1;
    }

    /** Returns whether the back end has semaphores. */
    default boolean hasSemaphores() {
        return true;
    }

    /** Returns whether a process may have clones. */
    default boolean mayHaveClones() {
        return true;
    }

    /** Returns whether readers that send attempts at the same time may get the same token. */
    default boolean readersMayShare() {
        return false;
    }

    /** Returns the time after the repair of all faults in which connections recover and abandoned claims end. */
    default long settlingNanos() {
        return World.ms(10_000);
    }

    /** Returns the additional time that an acquisition may take after the faults. */
    default long recoveryNanos(Plan plan) {
        return 0;
    }

    /** Writes the steps of a mutex to this trace. */
    default void writesTo(RunTrace to) {
        throw new UnsupportedOperationException("steps of this store are not traced");
    }

    /** Writes the steps of a mutex to this trace. Grants no runs, which the model of the queue leaves out. */
    default void writesTo(QueueTrace to) {
        throw new UnsupportedOperationException("steps of this store are not traced");
    }

    /** From now on, closed clients do not come back: locks that they do not release count as left behind. */
    default void ends() {}

    /**
     * Plans faults of its own.
     *
     * @param nanos the time within which all of them begin
     * @param isOver whether no more faults may begin
     */
    default void planFaults(Plan plan, long nanos, BooleanSupplier isOver) {}

    /** Returns what the servers still keep when no claim holds or waits. */
    List<String> leftovers();
}
