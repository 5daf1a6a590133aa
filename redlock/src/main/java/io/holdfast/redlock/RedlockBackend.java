package io.holdfast.redlock;

// Longer than 300 lines by its Javadoc: users need the assumptions of Redlock here.

import static java.util.Objects.requireNonNull;

import io.holdfast.LockBackendException;
import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.redlock.internal.inspect.MasterAnswers;
import io.holdfast.redlock.internal.master.MasterChecks;
import io.holdfast.redlock.internal.master.MasterSettings;
import io.holdfast.redlock.internal.master.Masters;
import io.holdfast.redlock.internal.master.WallClock;
import io.holdfast.redlock.internal.operation.LockOperations;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.Printable;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Keeps locks at a majority of independent masters, such as five Redis servers that know nothing of each other: the
 * Redlock algorithm, with fencing tokens. It works as long as a majority of the masters works.
 *
 * <pre>{@code
 * LockClient locks = LockClient.create(RedlockBackend.over(List.of(one, two, three, four, five)));
 * }</pre>
 *
 * <p><b>How</b>: the client sends each request to all masters at once, with a time limit for each. An attempt is
 * decided as soon as a majority has said yes, or cannot say yes any more. A slow or hung master costs nothing while a
 * majority answers. A master's first answer may take the time of a connection. The client undoes every yes to a lost
 * attempt, late ones too. A lease is valid for as long as a majority keeps it, less the time that the attempt took, 1 %
 * and 2 ms. A renewal needs a majority as well. If it fails, its outcome is unknown, and the lease stays until its
 * local deadline. If a majority says no, the lease is lost at once. If a minority has lost the lock, the client
 * restores it there.
 *
 * <p><b>Fencing tokens</b> rise strictly from owner to owner while the masters keep their data, for all majorities and
 * all times that clocks show. Before you get the lease, a majority has its token or a higher one. Readers may get equal
 * tokens, or in another order than their leases.
 *
 * <p><b>Assumptions</b>, and the consequences if one is broken:
 *
 * <ul>
 *   <li><i>Clocks run at about the same speed</i>: over one lease, those of a client and of each master differ by less
 *       than 1 % and 2 ms; the time of day that they show does not matter. A Redis server counts expiry by its wall
 *       clock, so setting that clock forward breaks this. If broken: a master may end a lease before its holder knows.
 *       If the holder has the smallest possible majority, one such master is enough for two holders to overlap.
 *   <li><i>Pauses are short</i>: between a check of the lease and the act that it protects, a process does not stop for
 *       longer than the rest of the lease. If broken: the act happens after the lock went to another client. No lock
 *       service can prevent that.
 *   <li><i>Masters keep their data or abstain</i>: a master that restarts without its locks does not vote until the
 *       longest lease of all clients is over. If broken: there are two holders at once, as soon as such masters form a
 *       majority with those that the holder does not have. If the holder has the smallest possible majority, one such
 *       master is enough. On Redis, {@code RedisLockBackend.Builder.quarantine} ensures this. It has no default: set it
 *       on each master, in each client, to the longest lease of all clients, or to zero if the server writes each grant
 *       to its disk before it answers. Where it is not set, one warning is logged when this back end is built. Masters in quarantine abstain. While too
 *       few others are left, attempts fail and report for how long ({@link
 *       io.holdfast.LockBackendException#retryAfter}), and a waiting acquisition waits for that time. With a majority
 *       of others, nothing changes.
 *   <li><i>Masters are independent</i>, and each is one server: a replica that takes over without the last writes is a
 *       master that lost its data.
 * </ul>
 *
 * <p>In each of these cases the fencing token protects your data: store the highest token beside the data, and refuse
 * writes with lower ones ({@link io.holdfast.LockLease}). After a loss of data, also of one master, tokens still rise if
 * the clock of the next owner's client shows over a second more than any clock of a server or client had shown. If the
 * clock of a master is set forward by about a lease during an acquisition, the later of two owners may have the lower
 * token, or the same one.
 *
 * <p><b>Kinds</b>: mutex, and read/write locks if all masters offer them. A semaphore is refused: of three masters with
 * two permits, each two can admit a different pair, so three clients would win. Waiters do not queue at the masters,
 * because halves of two queues could wait for each other for ever. A waiter sends its next attempt when a master
 * signals a release, or after a random pause. So the lock is not first come, first served, and readers may overtake a
 * writer.
 *
 * <p>Thread-safe. Answers come on the threads of the masters, or of the timer.
 */
public final class RedlockBackend implements LockBackend {

    /** How long one master may take to report the holders of a lock. */
    private static final Duration LONGEST_QUESTION = Duration.ofSeconds(1);

    private final LockOperations operations;
    private final Set<LockFeature> features;
    private final List<LockBackend> members;
    private final List<String> names;
    private final Duration limit;
    private final Scheduler timer;

    private RedlockBackend(Builder builder) {
        timer = builder.timer != null ? builder.timer : Schedulers.parallel();
        Masters masters = new Masters(new MasterSettings(
                builder.masters,
                builder.names,
                timer,
                builder.limit,
                builder.listener,
                builder.random,
                builder.wallClock));
        operations = new LockOperations(masters, builder.closesMasters);
        features = MasterChecks.featuresOf(builder.masters);
        MasterChecks.warnOfUnsafeRestarts(builder.masters, builder.names);
        members = builder.masters;
        names = builder.names;
        limit = builder.limit != null ? builder.limit : LONGEST_QUESTION;
    }

    /**
     * Makes a back end with the defaults, which closes the masters when it is closed.
     *
     * @param masters an odd number, at least three, that know nothing of each other
     * @return a back end that has sent no request yet
     * @throws IllegalArgumentException as {@link #builder}
     */
    public static RedlockBackend over(List<? extends LockBackend> masters) {
        return builder(masters).build();
    }

    /**
     * Starts with the defaults. A master has to grant at least half of the lease that a claim requests, as Redis and the
     * back end in memory do; otherwise its answer is a failure.
     *
     * @param masters an odd number, at least three, that know nothing of each other
     * @return a builder
     * @throws IllegalArgumentException if there are fewer than three masters or an even number of them, if the list has
     *     one of them twice, or if one does not offer {@link LockFeature#TOKEN_FLOOR}
     */
    public static Builder builder(List<? extends LockBackend> masters) {
        return new Builder(List.copyOf(masters));
    }

    @Override
    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
        return operations.tryAcquire(requireNonNull(claim, "claim"));
    }

    @Override
    public Mono<Renewal> renew(LockClaim claim) {
        return operations.renew(requireNonNull(claim, "claim"));
    }

    /** {@inheritDoc} Sends one request to each master. */
    @Override
    public Flux<Renewal> renewAll(List<LockClaim> claims) {
        return operations.renewAll(claims);
    }

    @Override
    public Mono<Ownership> release(LockClaim claim) {
        return operations.release(requireNonNull(claim, "claim"));
    }

    /**
     * {@inheritDoc}
     *
     * <p>Emits {@code Armed} when the watches at a majority of the masters are armed. Fails when no majority can be
     * watched any more.
     */
    @Override
    public Flux<WatchSignal> watch(LockClaim claim) {
        return operations.watch(requireNonNull(claim, "claim"));
    }

    /**
     * {@inheritDoc} Sends a request to each master. A claim holds the lock if a majority of the masters knows it as a
     * holder. Fails if a majority does not answer, or if the masters that did not answer decide whether a claim holds.
     */
    @Override
    public Flux<LockHolder> holders(LockKey key) {
        requireNonNull(key, "key");
        Supplier<Mono<MasterAnswers<List<LockHolder>>>> request = () -> {
            Map<String, Mono<List<LockHolder>>> requests = new LinkedHashMap<>();
            for (int i = 0; i < members.size(); i++) {
                Mono<List<LockHolder>> holders = members.get(i).holders(key).collectList();
                requests.put(names.get(i), holders.timeout(limit, timer));
            }
            return MasterAnswers.send(
                    requests, key.name(), "read the holders of lock '%s'".formatted(Printable.text(key.name())));
        };
        return operations
                .unlessClosed("read the holders of", key, request)
                .flatMapIterable(answers -> MasterAnswers.holders(answers, key.name()));
    }

    /**
     * Makes an inspector of the locks over several masters, for operators. It sends each request to all masters at
     * once, and shows a claim as a holder if a majority knows it. It warns of claims that fewer masters know, and of
     * masters that do not answer. It breaks a hold at all masters; the former holder learns of that by its next
     * renewal. It keeps the answers of the masters in memory until the last master has answered, also when it reads all
     * locks.
     *
     * @param masters the inspectors of all masters, by the names of the masters in messages; closed with the result
     * @return an inspector, which fails if no majority answers
     */
    public static LockInspector inspector(Map<String, ? extends LockInspector> masters) {
        return new RedlockInspector(new LinkedHashMap<>(masters));
    }

    /**
     * Sends a ping to the masters.
     *
     * @return completes when a majority has answered; fails when a majority cannot answer any more
     */
    @Override
    public Mono<Void> ping() {
        return operations.ping();
    }

    /** {@inheritDoc} Each master checks the lease, against its quarantine for example. */
    @Override
    public void checkLease(Duration lease) {
        operations.checkLease(lease);
    }

    @Override
    public Set<LockFeature> features() {
        return features;
    }

    @Override
    public String name() {
        return "redlock";
    }

    /**
     * Ends the releases in the background, within 2 s, then closes the masters, if so configured. Later requests fail
     * with {@link LockBackendException}. Closing begins with the call. Idempotent.
     *
     * @return completes at the end of the closing; may be ignored
     */
    @Override
    public Mono<Void> close() {
        return operations.close();
    }

    /** The number of claims that wait or hold. For tests. */
    int claimCount() {
        return operations.claimCount();
    }

    /** The number of releases in the background. For tests. */
    int releaseCount() {
        return operations.releaseCount();
    }

    @Override
    public String toString() {
        return "RedlockBackend" + operations;
    }

    /** Options of a {@link RedlockBackend}. Not thread-safe. */
    public static final class Builder {

        private final List<LockBackend> masters;
        private List<String> names;
        private @Nullable Duration limit;
        private @Nullable Scheduler timer;
        private @Nullable Consumer<? super Vote> listener;
        private DoubleSupplier random = () -> ThreadLocalRandom.current().nextDouble();
        private WallClock wallClock = WallClock.ofSystem();
        private boolean closesMasters = true;

        private Builder(List<LockBackend> masters) {
            MasterChecks.check(masters);
            this.masters = masters;
            names = IntStream.range(0, masters.size())
                    .mapToObj(i -> masters.get(i).name() + " " + (i + 1))
                    .toList();
        }

        /**
         * Sets how long one master may take for one request. An attempt takes up to two of these: if {@code
         * operationTimeout} of the client is shorter, its error does not show which masters failed. Until a majority has
         * answered this process, each master gets more time, for a connection: 2 s or a quarter of the lease, less two of
         * these.
         *
         * @param each at least 1 ms; default the longer of 50 ms and a hundredth of the lease, but at most 500 ms and a
         *     tenth of the lease
         * @return this
         * @throws IllegalArgumentException if it is shorter
         */
        public Builder masterTimeLimit(Duration each) {
            requireNonNull(each, "each");
            if (each.toMillis() < 1) {
                throw new IllegalArgumentException("masterTimeLimit must be at least 1 ms, was " + each);
            }
            limit = each;
            return this;
        }

        /**
         * Sets the names of the masters in votes and messages.
         *
         * @param inOrder one for each master, without secrets; default: their {@link LockBackend#name} and position,
         *     such as {@code redis 3}
         * @return this
         * @throws IllegalArgumentException if there are more or fewer names than masters, or if two are equal
         */
        public Builder names(List<String> inOrder) {
            if (inOrder.size() != masters.size() || Set.copyOf(inOrder).size() != masters.size()) {
                throw new IllegalArgumentException("names must be a different one for each of the %d masters, were %s"
                        .formatted(masters.size(), inOrder));
            }
            names = List.copyOf(inOrder);
            return this;
        }

        /**
         * Sets the listener for votes. It receives each vote when it is decided, on the thread that decided it.
         *
         * @param votes receives them; must not block or throw; default none
         * @return this
         */
        public Builder listener(Consumer<? super Vote> votes) {
            listener = requireNonNull(votes, "votes");
            return this;
        }

        /**
         * Sets the timer of time limits and pauses.
         *
         * @param clockAndDelays its {@code now(NANOSECONDS)} must be monotonic; owned by the caller; default {@link
         *     Schedulers#parallel()}
         * @return this
         */
        public Builder timer(Scheduler clockAndDelays) {
            timer = requireNonNull(clockAndDelays, "clockAndDelays");
            return this;
        }

        /**
         * Sets whether {@link RedlockBackend#close} closes the masters.
         *
         * @param close default true
         * @return this
         */
        public Builder closeMasters(boolean close) {
            closesMasters = close;
            return this;
        }

        /** Sets the wall clock behind the proposed tokens; for tests. */
        Builder wallClock(Clock clock) {
            wallClock = new WallClock(clock);
            return this;
        }

        /** Sets the source of random numbers in [0, 1); for tests. */
        Builder random(DoubleSupplier chance) {
            random = chance;
            return this;
        }

        /**
         * Makes the back end, which has sent no request yet.
         *
         * @return a back end
         */
        public RedlockBackend build() {
            return new RedlockBackend(this);
        }
    }
}
