package io.holdfast;

import static java.util.Objects.requireNonNull;

import io.holdfast.internal.tenure.Bounds;
import io.holdfast.internal.tenure.TenureBackend;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockFeature;
import java.time.Duration;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Hands a lock over inside one process: many flows that want one name share one claim at the back end, instead of one
 * claim each. Turn it on if several flows of one process often wait for one mutex, each holds it for less than 1 ms,
 * and the back end is Redis or Redlock. Make one decorated back end for all clients of the process.
 *
 * <pre>{@code
 * LockClient locks = LockClient.create(LocalHandOver.over(RedisLockBackend.create(redis)));
 * }</pre>
 *
 * <p><b>How</b>: the waiting claims of one name and one lease duration in this process share one queue, and one claim
 * at the back end. When the back end grants that claim, a <i>turn</i> begins. The claims of the queue get the lock one
 * after the other in memory, in order of arrival, within the bounds of {@link Builder}. A claim that arrives during the
 * turn joins the queue, and the turn may serve it. The first such claim also takes a place at the back end for the next
 * turn. A turn ends when one of its bounds is reached or the queue is empty. Then the lock is released at the back end.
 * If the queue is empty then, the place of the next turn is withdrawn too. The process does not keep a lock for claims
 * that may arrive later.
 *
 * <p><b>Between processes</b>: the back end grants turns in order of arrival, if it has a queue. A claim of another
 * process waits for the turns ahead of it: for each other process, at most one turn that holds the lock and one that
 * already had a place.
 *
 * <p><b>What stays the same</b>: exclusion and fencing tokens. Each token is greater than the one before it, also
 * between processes: the back end acknowledges a block of tokens for the turn before a second owner gets a token. The
 * unused numbers of the block are skipped. A lease is valid for no longer than the lease of the turn. When the turn is
 * lost, its owner gets the loss as without a hand-over, and the others wait for the next turn. Cancelling a wait sends
 * no command; only the last claim that leaves the queue withdraws the place at the back end. A {@code tryAcquire} does
 * not overtake a claim that waits in this process.
 *
 * <p><b>What changes</b>: a release completes when the lock was handed over in this process; only the last release of a
 * turn waits for the back end. Inspectors of the back end show one waiter for each process and name, and the last token
 * of the block. {@link LockBackend#holders} of the decorated back end returns the claim of this process that holds the
 * lock now.
 *
 * <p><b>Which locks</b>: mutexes. Requests for read/write locks and semaphores go to the back end, and so do claims
 * that do not wait. If the back end does not have {@link LockFeature#TOKEN_FLOOR}, all requests go to it, and the
 * decoration changes nothing. Of Holdfast's own back ends, those for ZooKeeper, etcd and databases do not have it.
 *
 * <p><b>Requests</b>: this class sends nothing before the subscription to a claim. A turn costs a place in the queue, a
 * request for its tokens if other claims wait when it begins, and a release. A turn that ends with an empty queue may
 * also cost the release of a place. A turn hands nothing over if it began without waiters, or if its request for tokens
 * fails. A failed request is an error of the claim that sent it, as without a hand-over; the other claims send their
 * own requests.
 *
 * <p><b>Leases</b> of different durations are not mixed: a turn serves claims of one lease duration.
 *
 * <p><b>Threads</b>: a grant of the back end is delivered on the back end's thread. The hand-overs that follow from it
 * run there too, for half a millisecond. The {@link Builder#timer timer} delivers all other hand-overs, and the rest of
 * that turn. A release never runs the code of the next owner within its own call.
 *
 * <p>Each instance hands over between the clients that share it. Its {@code close()} closes the decorated back end, and
 * waits for nothing else: close the clients first. Thread-safe.
 */
public final class LocalHandOver {

    private LocalHandOver() {}

    /**
     * {@return a decorated back end, with the default bounds}
     *
     * @param backend the back end that keeps the locks; closed when the result is closed
     */
    public static LockBackend over(LockBackend backend) {
        return builder(backend).build();
    }

    /**
     * {@return a builder with the default bounds}
     *
     * @param backend the back end that keeps the locks; closed when the result is closed
     */
    public static Builder builder(LockBackend backend) {
        return new Builder(backend);
    }

    /** Sets the bounds of a turn. Not thread-safe. */
    public static final class Builder {

        private static final int MOST_HAND_OVERS = 1 << 20;

        private final LockBackend backend;
        private int maxHandOvers = 1024;
        private Duration maxTurnTime = Duration.ofMillis(5);
        private Scheduler timer = Schedulers.parallel();

        private Builder(LockBackend backend) {
            this.backend = requireNonNull(backend, "backend");
        }

        /**
         * Sets how often this process hands a lock over before it releases it at the back end. For each turn ahead of
         * it, a claim of another process waits for at most that many owners more. A hand-over takes about 3 µs. So
         * 1 024 of them fit into the default of {@link #maxTurnTime}, and processes with work that short get equal
         * shares. With 256, a turn takes less than a millisecond, and its two or three round trips cost about a quarter
         * of the rate. A turn requests that many tokens from the back end, although it may use few of them.
         *
         * @param most 1 to 1 048 576; default 1024
         * @return this
         * @throws IllegalArgumentException if it is out of range
         */
        public Builder maxHandOvers(int most) {
            if (most < 1 || most > MOST_HAND_OVERS) {
                throw new IllegalArgumentException(
                        "maxHandOvers must be 1 to %d, was %d".formatted(MOST_HAND_OVERS, most));
            }
            maxHandOvers = most;
            return this;
        }

        /**
         * Sets for how long this process hands a lock over. After this time it releases the lock at the back end. The
         * process checks the limit at each release, so the work of the last owner may end later. The time counts from
         * when the back end has acknowledged the tokens of the turn. The default is about ten round trips in a data
         * centre: a longer turn gains little, and makes other processes wait.
         *
         * @param most 1 µs to 1 minute; default 5 ms
         * @return this
         * @throws IllegalArgumentException if it is out of range
         */
        public Builder maxTurnTime(Duration most) {
            requireNonNull(most, "most");
            if (most.compareTo(Duration.ofNanos(1_000)) < 0 || most.compareTo(Duration.ofMinutes(1)) > 0) {
                throw new IllegalArgumentException("maxTurnTime must be 1 µs to 1 minute, was " + most);
            }
            maxTurnTime = most;
            return this;
        }

        /**
         * Sets the clock that measures turns, and whose threads deliver hand-overs. All clients that share this back
         * end must measure leases by the same clock. If the clients have a {@linkplain LockClient.Builder#timer timer}
         * of their own, give that one.
         *
         * @param clockAndDelays its {@code now(NANOSECONDS)} must be monotonic; the caller disposes it; default:
         *     {@link Schedulers#parallel()}
         * @return this
         */
        public Builder timer(Scheduler clockAndDelays) {
            timer = requireNonNull(clockAndDelays, "timer");
            return this;
        }

        /**
         * Builds the decorated back end. Sends nothing.
         *
         * @return the decorated back end; the given back end itself if it does not have {@link LockFeature#TOKEN_FLOOR}
         */
        public LockBackend build() {
            return backend.features().contains(LockFeature.TOKEN_FLOOR)
                    ? new TenureBackend(backend, new Bounds(maxHandOvers, maxTurnTime.toNanos()), timer)
                    : backend;
        }
    }
}
