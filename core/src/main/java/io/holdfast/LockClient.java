package io.holdfast;

import static java.util.Objects.requireNonNull;

import io.holdfast.internal.client.DefaultLockClient;
import io.holdfast.internal.engine.Engine;
import io.holdfast.internal.engine.Events;
import io.holdfast.internal.engine.Randomness;
import io.holdfast.internal.tenure.StoreFedBackend;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.support.OwnerLabel;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Creates locks on one back end, and manages all their waiters and leases. A client is expensive: make one per back end
 * and application, and close it at the end.
 *
 * <pre>{@code
 * LockClient locks = LockClient.create(InMemoryLockBackend.create());
 * Mono<Receipt> sale = locks.lock("stock/42").withLock(lease -> sell(42, lease.fencingToken()));
 * }</pre>
 *
 * <p>Leases arrive as {@link ReactiveLock} says; {@link #ping()}, {@link #warmUp()} and {@link #close()} signal on the
 * thread of the back end, of the timer or of the caller. Thread-safe. Users do not implement this interface.
 */
public interface LockClient {

    /**
     * Creates a client with default options.
     *
     * @param backend the back end; the client closes it. If this method throws, the back end stays open and the caller
     *     closes it
     * @return a client; it has sent nothing yet
     * @throws IllegalArgumentException as {@link Builder#build()}
     */
    static LockClient create(LockBackend backend) {
        return builder(backend).build();
    }

    /**
     * {@return a builder with all defaults}
     *
     * @param backend the back end of the client
     */
    static Builder builder(LockBackend backend) {
        return new Builder(backend);
    }

    /** Collects the settings of a client. Not thread-safe. */
    final class Builder {

        private static final Duration LEAST_OPERATION = Duration.ofMillis(1);

        private final LockBackend backend;
        private LockOptions options = LockOptions.defaults();
        private @Nullable Duration operationTimeout;
        private @Nullable Scheduler timer;
        private @Nullable Scheduler deliverOn;
        private @Nullable LockListener listener;
        private boolean closeBackend = true;
        private int maxWaiters = Engine.NO_LIMIT;
        private @Nullable String owner;

        private Builder(LockBackend backend) {
            this.backend = requireNonNull(backend, "backend");
        }

        /**
         * Sets the options of locks that have none of their own.
         *
         * @param defaults the options; default {@link LockOptions#defaults()}
         * @return this
         */
        public Builder options(LockOptions defaults) {
            options = requireNonNull(defaults, "options");
            return this;
        }

        /**
         * Sets how long the client waits for one operation of the back end. After that, the outcome is unknown.
         *
         * @param limit at least 1 ms, and at most a third of every lease duration used; default a quarter of the lease
         *     duration, at most 2 s
         * @return this
         * @throws IllegalArgumentException if it is less than 1 ms; {@link #build()} checks the rest
         */
        public Builder operationTimeout(Duration limit) {
            requireNonNull(limit, "operationTimeout");
            if (limit.compareTo(LEAST_OPERATION) < 0) {
                throw new IllegalArgumentException("operationTimeout must be at least 1 ms, was " + limit);
            }
            operationTimeout = limit;
            return this;
        }

        /**
         * Sets the clock and the timers of this client. Its {@code now(NANOSECONDS)} must be monotonic, and its tasks
         * must not be delayed by blocking work.
         *
         * <p>Close the client before you dispose of it. If its timer is disposed, a client closes itself within a
         * second, as {@link LockClient#close()} does, and signals that on a thread of its own. It does not close the
         * back end.
         *
         * @param clockAndDelays the scheduler; the client never disposes it; default Reactor's shared parallel
         *     scheduler
         * @return this
         */
        public Builder timer(Scheduler clockAndDelays) {
            timer = requireNonNull(clockAndDelays, "timer");
            return this;
        }

        /**
         * Sets where the client signals leases, results and losses, and so where the work of {@code withLock} begins.
         *
         * <p><b>Set it if work may block</b>, a {@code fromCallable} with a call of JDBC for example. Without it, such
         * work runs on the event loop of the back end or on the thread of the timer. It then stops the renewals of all
         * leases of this client until it ends, and those of other clients whose back ends use the same event loop: on
         * Redis, all that share driver resources. {@code deliverOn(Schedulers.boundedElastic())} is enough while fewer
         * pieces of work block at a time than that scheduler has threads. Renewals never run on this scheduler. But when all its
         * threads are blocked, leases, results and losses wait for a thread. {@link LockLease#isValid()} and listeners
         * report a loss all the same. A lock that a lost holder may still work under is released when its holder has got
         * the loss, or after an operation timeout.
         *
         * <p>If the scheduler rejects a signal, another thread signals. Only a lease is not delivered like that: it is
         * released, and the acquisition fails with {@link java.util.concurrent.RejectedExecutionException}, or with
         * {@link LockClosedException} if the scheduler is disposed.
         *
         * @param signals the scheduler; the client never disposes it: dispose it after the client has closed. Default
         *     none: signals arrive on the thread of the back end or of the timer. Code that handles them there must not
         *     block. The client sends the renewals that are due at that moment first
         * @return this
         */
        public Builder deliverOn(Scheduler signals) {
            deliverOn = requireNonNull(signals, "deliverOn");
            return this;
        }

        /**
         * Adds a listener for the events of this client. Several get each event in the order in which they were added,
         * also when one throws.
         *
         * @param receiver a listener that never blocks; default none
         * @return this
         */
        public Builder listener(LockListener receiver) {
            requireNonNull(receiver, "listener");
            listener = listener == null ? receiver : listener.andThen(receiver);
            return this;
        }

        /**
         * Sets whether {@link LockClient#close()} closes the back end too.
         *
         * @param close default true
         * @return this
         */
        public Builder closeBackend(boolean close) {
            closeBackend = close;
            return this;
        }

        /**
         * Limits how many acquisitions of this client may wait at one time, over all its locks. Beyond the limit, an
         * acquisition fails with {@link LockQueueFullException} before the client sends anything. An acquisition counts
         * from its subscription until it is granted, fails or is cancelled, even while the lock is free. One that fails
         * does not count any more when its subscriber gets the error. A cancelled one counts until its request in
         * flight is answered, or its operation timeout is over. {@code tryAcquire}, a {@code waitTimeout} of
         * zero and nested acquisitions never wait and do not count.
         *
         * @param limit at least 1; default none: a caller that is bounded itself, such as a web server with a limit of
         *     requests, needs no second bound
         * @return this
         */
        public Builder maxWaiters(int limit) {
            if (limit < 1) {
                throw new IllegalArgumentException("maxWaiters must be at least 1, was " + limit);
            }
            maxWaiters = limit;
            return this;
        }

        /**
         * Sets a label by which an operator recognises this client among the holders and the waiters of a lock. The
         * label is part of the id of each claim, so every reader of the back end's data can read it. Several clients
         * may have the same one. The label has no effect on locking, with one exception: {@link InMemoryLockBackend}
         * takes clients with the same label for one when it passes over a client that hangs.
         *
         * @param label 1 to 48 characters, each a letter or digit of ASCII or one of {@code . _ : -}. Default:
         *     {@code <application>:<host>:<process>}. The application is the class or the jar that was started. The
         *     host is the environment variable {@code HOSTNAME} or {@code COMPUTERNAME}, or the name in the kernel. The
         *     process is its number. A default that is too long is cut, and each character that a label may not contain
         *     becomes {@code -}
         * @return this
         * @throws IllegalArgumentException if the text is not a valid label
         */
        public Builder owner(String label) {
            owner = OwnerLabel.require(requireNonNull(label, "owner"));
            return this;
        }

        /**
         * Checks the options together and makes the client.
         *
         * @return a client; it has sent nothing yet
         * @throws IllegalArgumentException if an option is out of range, or two options contradict each other, those of
         *     the back end included; the message names both with their values. The back end then stays open, whatever
         *     {@link #closeBackend} says: close it, or build a client with other options
         * @throws UnsupportedOperationException if the options have a {@link LockOptions#minHoldTime()} that the back end cannot keep
         */
        public LockClient build() {
            Scheduler clock = timer != null ? timer : Schedulers.parallel();
            Duration limit = operationTimeout;
            Engine engine = new Engine(
                    StoreFedBackend.inFrontOf(backend, clock, lease -> Engine.operationTimeout(limit, lease)),
                    clock,
                    deliverOn,
                    new Events(listener),
                    limit,
                    maxWaiters,
                    Randomness.ofSystem(),
                    owner != null ? owner : OwnerLabel.ofProcess());
            return new DefaultLockClient(engine, options, clock, closeBackend);
        }
    }

    /**
     * Returns an exclusive lock.
     *
     * <p>The client compares names of all kinds of locks as they are, without Unicode normalisation: "é" as one
     * character, and "e" with a combining accent, appear the same and name two locks. Normalise names that users enter.
     *
     * @param name 1 to 512 bytes in UTF-8, any characters, not blank
     * @return a lock with the client's default options; the client sends nothing
     * @throws IllegalArgumentException if the name is not valid
     */
    ReactiveLock lock(String name);

    /**
     * Returns a read/write lock.
     *
     * @param name 1 to 512 bytes in UTF-8, any characters, not blank
     * @return a pair of locks with the client's default options; the client sends nothing
     * @throws IllegalArgumentException if the name is not valid
     * @throws UnsupportedOperationException if the back end does not have read/write locks
     */
    ReactiveReadWriteLock readWriteLock(String name);

    /**
     * Returns a semaphore: each lease takes one permit, or as many as {@link ReactiveSemaphore#permits} says. It is
     * never re-entrant: an acquisition inside its own {@code withLock} takes another permit.
     *
     * @param name 1 to 512 bytes in UTF-8, any characters, not blank
     * @param permits how many permits claims may take at once, at least 1. The back end judges each claim by the number
     *     of that claim, so all users of a name should use the same number
     * @return a semaphore with the client's default options; the client sends nothing
     * @throws IllegalArgumentException if the name is not valid, or permits is less than 1
     * @throws UnsupportedOperationException if the back end does not have semaphores
     */
    ReactiveSemaphore semaphore(String name, int permits);

    /**
     * Returns several locks as one: an acquisition takes all of them, or none.
     *
     * @param locks locks of this client, in any order, of any kinds; at least one, and at most 64. A lock that is given twice counts once, also a
     *     semaphore with the same number of permits to take
     * @return the locks as one; the client sends nothing
     * @throws IllegalArgumentException if there are none or too many, if one lock is not of this client, if two
     *     different locks have one name, or if one semaphore is given with two numbers of permits to take
     */
    ReactiveMultiLock all(ReactiveLock... locks);

    /**
     * Adopts a lease that another process has handed on by {@link LockLease#export()}, and renews it at once. Its token
     * and name stay the same. It has the {@code leaseDuration} of the exporter, and the rest of its
     * {@code minHoldTime}. The options of this client determine everything else.
     *
     * <p>Cold: each subscription is an adoption. From then on this client owns the lock: when the adoption fails or is
     * cancelled before the emission, the client releases it, after the rest of its {@code minHoldTime}. Only a client that is
     * closed or drained leaves it untouched. A text that is
     * adopted twice gives two leases with one token, which the back end cannot distinguish. The release of one is the
     * loss of the other. So adopt each text once: do not repeat an adoption that failed, here or in another process.
     *
     * <p>Adopt it before the exporter's lease ends. Later the adoption fails and changes nothing, even if an attempt of
     * the exporter arrived late and took the lock again: that hold has another token, and ends with its lease.
     *
     * @param exported the text; the client ignores white space around it
     * @return the lease, never empty. Fails with {@link IllegalArgumentException} if the text is not an exported lease,
     *     or the lease does not fit this client or its back end. Fails with {@link LockLostException} if the claim no
     *     longer holds the lock, with {@link LockBackendException} if the back end did not answer, and with
     *     {@link LockClosedException}. Fails with {@link UnsupportedOperationException} on a back end without
     *     {@link io.holdfast.spi.LockFeature#HAND_ON}
     */
    Mono<LockLease> adopt(String exported);

    /**
     * Returns an election of one leader among many candidates.
     *
     * @param name 1 to 512 bytes in UTF-8, any characters, not blank; the holder of the mutex of that name is the
     *     leader
     * @return an election with the client's default options; the client sends nothing
     * @throws IllegalArgumentException if the name is not valid
     */
    LeaderElection election(String name);

    /** {@return the leases and the waiting acquisitions of this client, in bounded lists} Sends nothing. */
    ClientReport report();

    /**
     * Sends a ping to the back end, for health checks. Cold; cancelling it has no effect.
     *
     * @return completes when the back end answered. Fails with {@link LockBackendException} when it did not answer
     *     within the operation timeout, counted from when the ping was sent, or with {@link LockClosedException}. Until
     *     the back end has answered a first ping of this client, the limit is at least 10 s: a first connection may
     *     take that long on a busy machine
     */
    Mono<Void> ping();

    /**
     * Does what makes the first lock of a JVM slow: connects as {@link #ping()} does, and runs one lock in memory, which loads the classes
     * of this library. Call it when the application starts. No lock of the back end is touched.
     *
     * <p>Cold: the classes are loaded on the thread that subscribes. Cancelling it stops the waiting; the connection stays.
     *
     * @return completes when the back end has answered; fails as {@link #ping()} does, and the next request connects again
     */
    default Mono<Void> warmUp() {
        return Mono.usingWhen(
                Mono.fromSupplier(() -> create(InMemoryLockBackend.create())),
                memory -> memory.lock("warm-up").withLock(Mono.just(true)).then(ping()),
                LockClient::close);
    }

    /**
     * Stops to give locks, and lets the holders finish: the first step of a shutdown, while the application still answers
     * requests. The last step is {@link #close()}.
     *
     * <p><b>Waiters end.</b> From the call on, acquisitions fail with {@link LockClosedException}, and send nothing:
     * {@code acquire}, {@code tryAcquire} and {@code withLock} of all kinds of locks, {@link #all}, {@link #adopt}, and
     * the candidates of an {@link #election}. Acquisitions under way fail at once with the same exception. The client
     * withdraws their claims, and releases what they hold of several locks, or of a lease that they adopt. A grant
     * that arrives during the call is emitted as a lease, or released. A text that {@code adopt} refuses stays good for
     * another process.
     *
     * <p><b>Leases go on.</b> The client renews them and signals their losses. They can be renewed, released, exported and
     * downgraded. Work under {@code withLock} may acquire more: the same lock again, and other locks, also if it must
     * wait for them. This right ends when the lease is lost, or its release begins. Waiters that the work has left behind
     * fail, at the latest when the lease has ended. If one of them is granted its lock before, the client releases it. The client finds such work
     * by the Reactor Context, so it does not know what the caller of an {@code acquire()} does next. The term of a leader goes on until it ends; a leader that loses its lease does not stand again, and ends
     * after the pause of its back-off. {@link #ping()}, {@link #report()} and {@link LeaderElection#leader()} work as before.
     *
     * <p>Begins at the call, on the calling thread, and never blocks. Waiters get their error on that thread, or on that
     * of {@link Builder#deliverOn}. Idempotent. It cannot be undone.
     *
     * @return completes when the last lease has ended: it was released and the back end has confirmed that, or it was
     *     exported or lost. Completes at once if there is none. It also waits for the requests of waiters in flight, for one
     *     operation timeout at most, and not for their withdrawals. If the back end is unreachable, each lease ends with its
     *     duration. There is no other limit, and a leader's term may have no end: use {@code timeout(…)}. {@link #close()}
     *     may follow at any time, and completes it. Never fails. You may ignore it, and cancelling it has no effect. Signals on the
     *     thread on which the last lease ended, perhaps before the holder has got its result: do not block there
     */
    Mono<Void> drain();

    /**
     * Closes the client: waiters end with {@link LockClosedException}, and leases are lost with
     * {@link LossReason#CLIENT_CLOSED} and released. Then the client closes the back end, unless
     * {@link Builder#closeBackend} is false. Begins at the call, on the calling thread, and never blocks. Idempotent:
     * all calls share one closing.
     *
     * @return signals the end. You may ignore it: the closing goes on without a subscriber. Completes when the releases
     *     are confirmed, or after one operation timeout, and the back end is closed, or after 5 s more. Requests that
     *     have not ended by then go on in the background. Fails if the back end's {@code close()} does. Cancelling it
     *     has no effect
     */
    Mono<Void> close();
}
