package io.holdfast;

import static java.util.Objects.requireNonNull;

import io.holdfast.internal.handover.Bounds;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockFeature;
import java.time.Duration;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Hands a lock over inside one process: many flows that want one name need one claim at the store, and not one each. Turn it on if several
 * flows of one process often wait for one mutex, each holds it under 1 ms, and the store is Redis or Redlock. Make one decorated back end for all
 * clients of the process.
 *
 * <pre>{@code
 * LockClient locks = LockClient.create(LocalHandOver.over(RedisLockBackend.create(redis)));
 * }</pre>
 *
 * <p><b>How</b>: the claims of one name and one lease that wait in this process share one queue, and one claim at the store. When the store grants
 * that claim, a <i>turn</i> begins. The claims of the queue get the lock one after the other in memory, first come first served, within the bounds
 * of {@link Builder}. A claim that comes during the turn joins the queue and may be served in it. The first such claim also takes a place at the store
 * for the next turn. A turn ends when one of its bounds is reached or the queue is empty; then the lock is released at the store. If the queue is
 * empty then, the place of the next turn is given up too. No lock is kept for claims that may come.
 *
 * <p><b>Between processes</b>: turns are first come, first served, where the store is. A claim of another process waits for the turns that are ahead of
 * it: at most one that holds the lock, and one that already had a place, of each other process.
 *
 * <p><b>What stays as it was</b>: exclusion, and the fencing tokens, each greater than the one before it, also between processes: the
 * store has acknowledged a block of tokens for the turn before a second owner gets one. Numbers of the block that are not used are skipped.
 * A lease is valid for no longer than that of the turn. When the store loses the turn, its owner is told as before, and the others wait
 * for the next turn. Cancelling a wait costs no command; the last one that leaves gives up the place at the store. A {@code tryAcquire} passes no
 * claim that waits in this process.
 *
 * <p><b>What changes</b>: a release completes when the lock was passed on in this process; only the last one of a turn waits for the store.
 * Inspectors of the store show one waiter for each process and name, and the token up to which the block reaches. {@link LockBackend#holders} of the
 * decorated back end tells the claim of this process that has the lock now.
 *
 * <p><b>For what</b>: mutexes. Read/write locks and semaphores go to the store, as do claims that do not wait. So does everything where the store does not have
 * {@link LockFeature#TOKEN_FLOOR}: of the back ends of
 * Holdfast, those for ZooKeeper and for databases. There this changes nothing.
 *
 * <p><b>Requests</b>: nothing is sent before a claim is subscribed to. A turn costs a place in the queue, a request for its tokens if other claims
 * wait when it begins, and a release. A turn that ends with an empty queue may cost the release of a place, in addition. A turn that began without
 * waiters, or whose request for tokens fails, hands nothing over. A request that fails is an error of the claim that made it, as it is without a
 * hand-over; the other claims ask again.
 *
 * <p><b>Leases</b> of different length are not mixed: a turn is for claims of one length.
 *
 * <p><b>Threads</b>: what the store grants is delivered on the store's thread, and so are the hand-overs that follow from it there, for half a
 * millisecond. Any other hand-over, and the rest of that turn, is delivered by the {@link Builder#clock clock}. A release never runs the code
 * of the next owner within its own call.
 *
 * <p>Each instance hands over between the clients that share it. Its {@code close()} closes the back end below, and waits for nothing else: close the
 * clients first. Thread-safe.
 */
public final class LocalHandOver {

    private LocalHandOver() {}

    /**
     * Decorates a back end, with the default bounds.
     *
     * @param backend what holds the locks; closed when the result is closed
     * @return a back end with its name and its features
     */
    public static LockBackend over(LockBackend backend) {
        return builder(backend).build();
    }

    /**
     * Starts with the default bounds.
     *
     * @param backend what holds the locks; closed when the result is closed
     * @return a builder
     */
    public static Builder builder(LockBackend backend) {
        return new Builder(backend);
    }

    /** The bounds of a turn. Not thread-safe. */
    public static final class Builder {

        private static final int MOST_HAND_OVERS = 1 << 20;

        private final LockBackend backend;
        private int mostHandOvers = 1024;
        private Duration longestTurn = Duration.ofMillis(5);
        private Scheduler clock = Schedulers.parallel();

        private Builder(LockBackend backend) {
            this.backend = requireNonNull(backend, "backend");
        }

        /**
         * Sets how often a lock is handed over in this process before it is released at the store. A claim of another process waits for so many
         * owners more, at most, for each turn ahead of it. A hand-over takes some 3 µs. So 1 024 of them fit into the default of
         * {@link #longestTurn}, and processes whose work is that short get equal shares. With 256, a turn is less than a millisecond, and its
         * two or three round trips cost about a quarter of the rate. A turn asks the store for so many tokens, although it may use few of them.
         *
         * @param most 1 to 1 048 576; default 1024
         * @return this
         * @throws IllegalArgumentException if it is out of range
         */
        public Builder mostHandOvers(int most) {
            if (most < 1 || most > MOST_HAND_OVERS) {
                throw new IllegalArgumentException(
                        "mostHandOvers must be 1 to %d, was %d".formatted(MOST_HAND_OVERS, most));
            }
            mostHandOvers = most;
            return this;
        }

        /**
         * Sets for how long a lock is handed over in this process. After this time it goes back to the store. It is checked at each release, so the
         * work of the last owner may end later. Counted from when the store has acknowledged the tokens of the turn. The default is some ten round
         * trips in a data centre: a turn that takes longer gains little from being longer, and others wait for it.
         *
         * @param most 1 µs to 1 minute; default 5 ms
         * @return this
         * @throws IllegalArgumentException if it is out of range
         */
        public Builder longestTurn(Duration most) {
            requireNonNull(most, "most");
            if (most.compareTo(Duration.ofNanos(1_000)) < 0 || most.compareTo(Duration.ofMinutes(1)) > 0) {
                throw new IllegalArgumentException("longestTurn must be 1 µs to 1 minute, was " + most);
            }
            longestTurn = most;
            return this;
        }

        /**
         * Sets the clock that turns are measured by, whose threads deliver hand-overs. Leases of all clients that share this back end must be
         * measured by the same: give the {@linkplain LockClient.Builder#timer timer} of the clients, should they have one of their own.
         *
         * @param timer its {@code now(NANOSECONDS)} must be monotonic; it stays yours; default: {@link Schedulers#parallel()}
         * @return this
         */
        public Builder clock(Scheduler timer) {
            clock = requireNonNull(timer, "timer");
            return this;
        }

        /**
         * Builds it. Asks nothing.
         *
         * @return the decorated back end; the one that was given, should it not have {@link LockFeature#TOKEN_FLOOR}
         */
        public LockBackend build() {
            return backend.features().contains(LockFeature.TOKEN_FLOOR)
                    ? new HandingOver(backend, new Bounds(mostHandOvers, longestTurn.toNanos()), clock)
                    : backend;
        }
    }
}
