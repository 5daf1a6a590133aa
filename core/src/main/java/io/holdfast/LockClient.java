package io.holdfast;

import io.holdfast.internal.ClientBuilder;
import io.holdfast.spi.LockBackend;
import java.time.Duration;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * Hands out locks of one back end, and looks after all that is waited for and held through it. Expensive: make one per back end
 * and application, and close it at the end.
 *
 * <pre>{@code
 * LockClient locks = LockClient.create(InMemoryLockBackend.create());
 * Mono<Receipt> sale = locks.lock("stock/42").withLock(lease -> sell(42, lease.fencingToken()));
 * }</pre>
 *
 * <p>Thread-safe. Not for users to implement.
 */
public interface LockClient {

    /**
     * A client with default options.
     *
     * @param backend the back end; closed with the client. It stays the caller's when the client is refused
     * @return a client; nothing was sent yet
     * @throws IllegalArgumentException as {@link Builder#build()}
     */
    static LockClient create(LockBackend backend) {
        return builder(backend).build();
    }

    /**
     * Starts to build a client.
     *
     * @param backend the back end
     * @return a builder with all defaults
     */
    static Builder builder(LockBackend backend) {
        return new ClientBuilder(backend);
    }

    /** Collects what a client needs. Not thread-safe, and not for users to implement. */
    interface Builder {

        /**
         * Options of locks that are not given any.
         *
         * @param defaults default {@link LockOptions#defaults()}
         * @return this
         */
        Builder options(LockOptions defaults);

        /**
         * How long one operation of the back end may take before its outcome counts as unknown.
         *
         * @param limit at least 1 ms, and at most a third of every lease duration used; default a quarter of the lease
         *     duration, at most 2 s
         * @return this
         */
        Builder operationTimeout(Duration limit);

        /**
         * The clock and the delays of this client. Its {@code now(NANOSECONDS)} must be monotonic, and its tasks must not be
         * delayed by blocking work.
         *
         * <p>Close the client before you dispose of it. A client whose timer was disposed closes itself within a second, as
         * {@link LockClient#close()} does, and signals that on a thread of its own. It does not close the back end.
         *
         * @param clockAndDelays never disposed by the client; default Reactor's shared parallel scheduler
         * @return this
         */
        Builder timer(Scheduler clockAndDelays);

        /**
         * Where leases, results and losses are signalled, and so where the work of {@code withLock} begins.
         *
         * <p><b>Set it if work may block</b>, a {@code fromCallable} with a call of JDBC for example. Without it, such work runs on the back end's event loop or
         * the timer's thread, and stops the renewals of all leases of this client until it ends. {@code deliverOn(Schedulers.boundedElastic())} is
         * enough as long as fewer works block at a time than that scheduler has threads. Renewals never run on it. But when all its threads are
         * blocked, leases, results and losses wait for a thread; {@link LockLease#isValid()} and listeners tell of a loss all the same.
         *
         * @param signals never disposed by the client: dispose of it after the client has closed. Default none: signals come on the back end's or the timer's
         *     thread. What handles them there must not block; the renewals that are due at that moment are sent before
         * @return this
         */
        Builder deliverOn(Scheduler signals);

        /**
         * Who is told of what happens; several are joined by {@link LockListener#andThen}.
         *
         * @param listener never blocks; default none
         * @return this
         */
        Builder listener(LockListener listener);

        /**
         * Whether {@link LockClient#close()} closes the back end too.
         *
         * @param close default true
         * @return this
         */
        Builder closeBackend(boolean close);

        /**
         * How many acquisitions of this client may wait at one time, over all its locks. One more fails with
         * {@link LockQueueFullException} before anything is sent. An acquisition counts from its subscription until it is granted, fails or
         * is cancelled, also while the lock is free; when it is cancelled, until the request in flight is answered or its time is up. {@code tryAcquire},
         * a {@code waitTimeout} of zero and nested acquisitions never wait and do not count.
         *
         * @param limit at least 1; default none: callers that are bounded themselves, such as a web server with a limit of requests,
         *     need no second bound
         * @return this
         */
        Builder maxWaiters(int limit);

        /**
         * A label by which an operator recognises this client among the holders and the waiters of a lock. It is part of the id of each claim, so
         * all that may read the locks in the store can read it. It decides nothing, and several clients may have the same one.
         *
         * @param label 1 to 48 characters, each a letter or digit of ASCII or one of {@code . _ : -}; default: {@code
         *     <application>:<host>:<process>}, from the class or the jar that was started, the environment variable {@code HOSTNAME} or {@code
         *     COMPUTERNAME} or the kernel, and the number of the process; what is too long for it is cut, and what no label may have becomes {@code -}
         * @return this
         * @throws IllegalArgumentException if it is none
         */
        Builder owner(String label);

        /**
         * Checks the options together and makes the client.
         *
         * @return a client; nothing was sent yet
         * @throws IllegalArgumentException if an option is out of range or two do not fit, those of the back end included; it names both with
         *     their values. The back end is not closed then, whatever {@link #closeBackend} says: close it, or build a client that fits
         * @throws UnsupportedOperationException if the options have a {@link LockOptions#minHoldTime()} that the back end cannot keep
         */
        LockClient build();
    }

    /**
     * An exclusive lock.
     *
     * <p>Names of all kinds of locks are compared as they are, without Unicode normalisation: "é" as one character, and "e" with a
     * combining accent, look the same and name two locks. Normalise names that come from users.
     *
     * @param name 1 to 512 bytes in UTF-8, any characters, not blank
     * @return a lock with the client's default options; nothing was sent
     * @throws IllegalArgumentException if the name is not one
     */
    ReactiveLock lock(String name);

    /**
     * A read/write lock.
     *
     * @param name 1 to 512 bytes in UTF-8, any characters, not blank
     * @return a pair of locks with the client's default options; nothing was sent
     * @throws IllegalArgumentException if the name is not one
     * @throws UnsupportedOperationException if the back end does not have read/write locks
     */
    ReactiveReadWriteLock readWriteLock(String name);

    /**
     * A semaphore: each lease takes one permit, or as many as {@link ReactiveSemaphore#permits} says. It is never re-entrant: an acquisition inside its own
     * {@code withLock} takes another permit.
     *
     * @param name 1 to 512 bytes in UTF-8, any characters, not blank
     * @param permits how many may be taken at once, at least 1. Each claim is judged by its own number, so all users of a name
     *     should agree on it.
     * @return a semaphore with the client's default options; nothing was sent
     * @throws IllegalArgumentException if the name is not one, or permits is less than 1
     * @throws UnsupportedOperationException if the back end does not have semaphores
     */
    ReactiveSemaphore semaphore(String name, int permits);

    /**
     * Several locks that are taken together: all of them, or none.
     *
     * @param locks of this client, in any order, of any kinds; at least one name, and at most 64. A lock that is given twice counts once, also a
     *     semaphore with the same number of permits to take
     * @return the locks as one; nothing was sent
     * @throws IllegalArgumentException if there are none or too many, if one is not of this client, if two different locks have one name, or if
     *     one semaphore is given with two numbers of permits to take
     */
    ReactiveMultiLock all(ReactiveLock... locks);

    /**
     * Goes on with a lease that another process has handed on by {@link LockLease#export()}: renews it at once. Its token and name are the same, its
     * {@code leaseDuration} is that of the exporter, and what was left of its {@code minHoldTime}; all else is as the options of this client say.
     *
     * <p>Cold: each subscription is an adoption. From then on the lock is this client's: when the adoption fails or is cancelled before the emission,
     * it is given back. A text that is adopted twice gives two leases with one token, which the store cannot tell apart; the release of one is the loss of
     * the other. So adopt it once.
     *
     * @param exported the text; white space around it is ignored
     * @return the lease, never empty. Fails with {@link IllegalArgumentException} if the text is none, or its lease does not fit this client or its back end; with
     *     {@link LockLostException} if the store does not hold the lease any more; with {@link LockBackendException} if the store did not
     *     answer; with {@link LockClosedException}; with {@link UnsupportedOperationException} on a back end without
     *     {@link io.holdfast.spi.LockFeature#HAND_ON}
     */
    Mono<LockLease> adopt(String exported);

    /**
     * An election of one leader among many candidates.
     *
     * @param name 1 to 512 bytes in UTF-8, any characters, not blank; that of the mutex whose holder leads
     * @return an election with the client's default options; nothing was sent
     * @throws IllegalArgumentException if the name is not one
     */
    LeaderElection election(String name);

    /**
     * Tells what this client holds and waits for now. No I/O, and no effect on what it tells of.
     *
     * @return a report, of which the lists are bounded
     */
    ClientReport report();

    /**
     * Asks the back end for a sign of life, for health checks. Cold; cancelling it has no effect.
     *
     * @return completes when it answered; fails with {@link LockBackendException} when it did not within the operation timeout, which
     *     counts from when the ping was sent, or with {@link LockClosedException}. Until a ping of this client was answered, the limit is 10 s at
     *     least: a first connection may take that long on a busy machine
     */
    Mono<Void> ping();

    /**
     * Ends all that this client started: waiters end with {@link LockClosedException}, leases are lost with
     * {@link LossReason#CLIENT_CLOSED} and released, and then the back end is closed, unless told otherwise. Begins when it is called,
     * on the calling thread, and never blocks. Idempotent: all calls share one closing.
     *
     * @return tells the end, and may be ignored: the closing goes on without a subscriber. Completes when the releases are confirmed, or
     *     after one operation timeout, and the back end is closed, or after 5 s more; what has not ended by then goes on in the
     *     background. Fails if the back end's {@code close()} does. Cancelling it cancels nothing.
     */
    Mono<Void> close();
}
