package io.holdfast.testkit;

import io.holdfast.LockInspector;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import java.time.Duration;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * Gives {@link LockBackendContract} access to a back end and its clock. The contract uses new lock names and claim ids
 * in each test, so one server may serve all of them.
 */
public interface LockBackendUnderTest {

    /**
     * Returns the back end under test.
     *
     * @return the same instance throughout a test; the implementor closes it
     */
    LockBackend backend();

    /**
     * Returns a second client of the same server, with connections of its own if it has any.
     *
     * @return the same instance throughout a test; the implementor closes it; may be {@link #backend()} if the locks
     *     are in the memory of one JVM
     */
    LockBackend anotherClient();

    /**
     * Returns an inspector of the same locks.
     *
     * @return the same instance throughout a test; the implementor closes it; default null: the back end has no
     *     inspector
     */
    default @Nullable LockInspector inspector() {
        return null;
    }

    /**
     * Lets the server's time pass.
     *
     * @param time the least time to pass
     */
    void passTime(Duration time);

    /**
     * Describes what the server keeps: claims that hold, wait or want a signal, and open watches. It leaves out data
     * that expires by itself within seconds, such as the tombstones of withdrawn claims.
     *
     * @return descriptions; empty when the server keeps nothing
     */
    Collection<String> leftovers();

    /**
     * Returns the lease duration of claims that the contract lets expire.
     *
     * @return short for a server with a real clock, yet several times a round trip; default 600 ms
     */
    default Duration lease() {
        return Duration.ofMillis(600);
    }

    /**
     * Returns the longest time that an unconfirmed grant lasts.
     *
     * @return default 2 s
     */
    default Duration claimTime() {
        return Duration.ofSeconds(2);
    }

    /**
     * Returns how long to wait, in real time, for an answer or a signal before the test fails.
     *
     * @return default 10 s
     */
    default Duration patience() {
        return Duration.ofSeconds(10);
    }

    /**
     * Ends a held claim on the server without a release.
     *
     * @param claim the claim with its last lease duration
     */
    default void makeExpire(LockClaim claim) {
        passTime(claim.lease().plusMillis(20));
    }

    /**
     * Returns whether the server itself grants the lock to the next waiter, and pushes
     * {@link io.holdfast.spi.WatchSignal.Granted}.
     *
     * @return default: true if the back end has {@link LockFeature#FIFO}
     */
    default boolean pushesGrants() {
        return backend().features().contains(LockFeature.FIFO);
    }

    /**
     * Returns whether watches emit signals. The engine polls a back end without signals.
     *
     * @return default true
     */
    default boolean signalsChanges() {
        return true;
    }

    /**
     * Returns whether, of several simultaneous claims on a free lock, one is always granted at once. A quorum may split
     * its votes between them, and then refuse all; they have to send another attempt.
     *
     * @return default true
     */
    default boolean oneOfManyAlwaysWins() {
        return true;
    }
}
