package io.holdfast.testkit;

import io.holdfast.LockInspector;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import java.time.Duration;
import java.util.Collection;
import java.util.Set;
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

    /**
     * Returns a further client of the same server, for claims of a client that vanishes.
     *
     * @return another client for each call; the implementor closes it; default: {@link #anotherClient()}
     */
    default LockBackend newClient() {
        return anotherClient();
    }

    /**
     * Makes a client vanish, as a process does that hangs or whose host loses power: its connections stay open. The
     * contract sends no request for its claims from then on and confirms no grant, except a release at the end of the
     * test. Only a back end that takes signs of life from the client itself, and not from its claims, needs to do
     * more.
     *
     * @param client from {@link #newClient()}
     */
    default void vanish(LockBackend client) {}

    /**
     * Returns how long a living claim may wait behind claims of vanished clients, from the release on.
     *
     * @param clients how many clients have vanished
     * @return default: a claim time for each client and one more, and a second for the machine
     */
    default Duration vanishedClientBound(int clients) {
        return claimTime().multipliedBy(clients + 1L).plusSeconds(1);
    }

    /**
     * Returns a client that refuses claims when this many claims wait.
     *
     * @param maxWaiters the limit
     * @return another client for each call; the implementor closes it; default null: the back end has no such limit
     */
    default @Nullable LockBackend clientWithLimit(int maxWaiters) {
        return null;
    }

    /**
     * Counts what the server has done for requests so far, in the unit that suits the back end: commands and calls
     * inside Redis, statements and rows of a database, requests to ZooKeeper. It leaves out what does not belong to
     * requests of claims, such as heartbeats.
     *
     * @return a number that never falls; default -1: not counted, so the back end has no tests of its work
     */
    default long serverWork() {
        return -1;
    }

    /**
     * Names the tests of the contract that this back end does not pass yet. Such a test must fail: it is reported as
     * skipped then, and as failed once it passes, so that the entry is removed.
     *
     * @return names of test methods; default: none
     */
    default Set<String> openPoints() {
        return Set.of();
    }
}
