package io.holdfast.proof.sim;

import io.holdfast.spi.LockBackend;
import java.util.List;
import java.util.function.BooleanSupplier;

/** What holds the locks in a schedule: servers, and a back end for each process. */
interface Store {

    /** The back end of one process. */
    LockBackend backend(Host host);

    List<? extends Server> servers();

    /** Masters with a replica, which may change places. */
    default List<RedisPair> pairs() {
        return List.of();
    }

    /** Whether first come is first served. */
    default boolean isFair() {
        return true;
    }

    /** Whether turns of processes are, where processes hand locks over. */
    default boolean hasFairTurns() {
        return false;
    }

    /** How many owners a turn has. */
    default int mostPerTurn() {
        return 1;
    }

    /** Whether there are semaphores. */
    default boolean hasSemaphores() {
        return true;
    }

    /** Whether readers that ask at one time may have one token. */
    default boolean readersMayShare() {
        return false;
    }

    /** When all faults are repaired, connections are as they should be after that time, and what was given up is over. */
    default long settlingNanos() {
        return World.ms(10_000);
    }

    /** So much longer than usual may an acquisition take after the faults. */
    default long recoveryNanos(Plan plan) {
        return 0;
    }

    /** Clients that are closed from now on are closed for good: what they do not give back by themselves is to be seen as left. */
    default void ends() {}

    /**
     * Plans faults of its own.
     *
     * @param nanos all of them begin within so much time
     * @param isOver whether faults are to be no more
     */
    default void planFaults(Plan plan, long nanos, BooleanSupplier isOver) {}

    /** What is left, when nobody holds or waits. */
    List<String> leftovers();
}
