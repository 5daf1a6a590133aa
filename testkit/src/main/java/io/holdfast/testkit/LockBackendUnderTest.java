package io.holdfast.testkit;

import io.holdfast.LockInspector;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import java.time.Duration;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * What a back end's test tells {@link LockBackendContract} about it. The contract uses new lock names and claim ids in each
 * test, so one store may serve all of them.
 */
public interface LockBackendUnderTest {

    /**
     * The back end under test.
     *
     * @return the same one throughout a test; the implementor closes it
     */
    LockBackend backend();

    /**
     * A second client of the same store, with connections of its own where it has any.
     *
     * @return the same one throughout a test; the implementor closes it; may be {@link #backend()} when one JVM is all there is
     */
    LockBackend anotherClient();

    /**
     * A look into the same store.
     *
     * @return the same one throughout a test; the implementor closes it; default null: there is none
     */
    default @Nullable LockInspector inspector() {
        return null;
    }

    /**
     * Lets the store's time pass.
     *
     * @param time at least this much
     */
    void passTime(Duration time);

    /**
     * What the store keeps: claims that hold, wait or want to be told, and open watches. Not what expires by itself within
     * seconds, such as the memory of withdrawn claims.
     *
     * @return descriptions; empty when nothing is left
     */
    Collection<String> leftovers();

    /**
     * The lease of claims that the contract lets expire.
     *
     * @return short for a store with a real clock, yet several times a round trip; default 600 ms
     */
    default Duration lease() {
        return Duration.ofMillis(600);
    }

    /**
     * The longest time that an unconfirmed grant lasts.
     *
     * @return default 2 s
     */
    default Duration claimTime() {
        return Duration.ofSeconds(2);
    }

    /**
     * How long to wait, in real time, for an answer or a signal before the test fails.
     *
     * @return default 10 s
     */
    default Duration patience() {
        return Duration.ofSeconds(10);
    }

    /**
     * Ends a held claim in the store without a release.
     *
     * @param claim the claim, with the lease that it was last given
     */
    default void makeExpire(LockClaim claim) {
        passTime(claim.lease().plusMillis(20));
    }

    /**
     * Whether the store itself makes the next waiter the holder, and pushes
     * {@link io.holdfast.spi.WatchSignal.Granted}.
     *
     * @return default: whether it has {@link LockFeature#FIFO}
     */
    default boolean pushesGrants() {
        return backend().features().contains(LockFeature.FIFO);
    }

    /**
     * Whether a watch signals anything. A back end without signals is polled.
     *
     * @return default true
     */
    default boolean signalsChanges() {
        return true;
    }

    /**
     * Whether of several simultaneous claims on a free lock one is always granted at once. A quorum may split its votes between
     * them, and then refuses all; they have to look again.
     *
     * @return default true
     */
    default boolean oneOfManyAlwaysWins() {
        return true;
    }
}
