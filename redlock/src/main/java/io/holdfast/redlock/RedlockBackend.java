package io.holdfast.redlock;

// Longer than 300 lines by its Javadoc: the assumptions of Redlock belong where its users look.

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
import io.holdfast.spi.Printable;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Locks held by a majority of independent masters, such as five Redis servers that know nothing of each other: the Redlock algorithm, with
 * fencing tokens. It works as long as a majority of the masters does.
 *
 * <pre>{@code
 * LockClient locks = LockClient.create(RedlockBackend.over(List.of(one, two, three, four, five)));
 * }</pre>
 *
 * <p><b>How</b>: every master is asked at once, each with a time limit of its own. An attempt is decided as soon as a majority has said yes, or
 * cannot any more; a slow or hung master costs nothing while a majority answers. A master's first answer may take the time of a
 * connection. Every yes to a lost attempt is undone, late ones too.
 * A lease is valid for as long as a majority keeps it, less the time that the attempt took, 1 % and 2 ms. A renewal needs a
 * majority as well: one that fails is unknown, and the lease stays until its local deadline; a majority that says no is a loss at once;
 * a minority that lost the lock gets it back.
 *
 * <p><b>Fencing tokens</b> rise strictly from owner to owner, whichever majorities grant and whatever the clocks say, while the
 * masters keep their data. A majority holds the token of a lease, or a higher one, before the lease is handed out.
 *
 * <p><b>Assumptions</b>, and what follows when one is broken:
 *
 * <ul>
 *   <li><i>Clocks run at about the same speed</i>: over one lease, those of a client and of each master differ by less than
 *       1 % and 2 ms; what their hands show does not matter. A Redis server counts expiry by its wall clock, so one that is set forwards
 *       while it runs breaks this. If broken: a master may end a lease before its holder knows. Where the holder has only just a
 *       majority, one such master is enough for two holders to overlap.
 *   <li><i>Pauses are short</i>: between a check of the lease and the act that it protects, a process does not stop for longer than the
 *       rest of the lease. If broken: the act happens after the lock went to another client. No lock service can prevent that.
 *   <li><i>Masters keep their data or stay away</i>: one that restarts without its locks does not vote until the longest lease of all
 *       clients is over. If broken on so many that they make a majority with those that the holder does not have: two holders at once. One
 *       is enough where the holder has only just a majority. On Redis, {@code RedisLockBackend.Builder.quarantine} sees to it. It
 *       has no default: set it on each master, in each client, to the longest lease of all clients. Masters in quarantine abstain: while too
 *       few others are left, attempts fail and say for how long ({@link io.holdfast.LockBackendException#retryAfter}), and a waiting
 *       acquisition waits for it. With a majority of others, nothing changes.
 *   <li><i>Masters are independent</i>, and each is one store: a replica that takes over without the last writes is a master that lost its
 *       data.
 * </ul>
 *
 * <p>In each of these cases the fencing token is the answer: the data that the lock protects should remember the highest token, and refuse writes
 * with lower ones ({@link io.holdfast.LockLease}). After loss of data tokens still rise, as long as the clocks of servers and clients differ by less than the
 * time between the two grants.
 *
 * <p><b>Kinds</b>: mutex, and read/write locks where all masters offer them. A semaphore is refused: of three masters with two permits, each
 * two can let in a different pair, so three clients would win. Waiters do not queue at the masters, because halves of two queues could wait for
 * each other for ever: a waiter asks again when a master tells of a release, or after a random pause. So the lock is not first come, first
 * served, and a writer may be passed by readers.
 *
 * <p>Thread-safe. Answers come on the threads of the masters, or of the timer.
 */
public final class RedlockBackend implements LockBackend {

    /** For one master to tell the holders of a lock. */
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
        members = builder.masters;
        names = builder.names;
        limit = builder.limit != null ? builder.limit : LONGEST_QUESTION;
    }

    /**
     * A back end with the defaults, which closes the masters when it is closed.
     *
     * @param masters an odd number, at least three, that know nothing of each other
     * @return a back end that has not asked anything yet
     * @throws IllegalArgumentException as {@link #builder}
     */
    public static RedlockBackend over(List<? extends LockBackend> masters) {
        return builder(masters).build();
    }

    /**
     * Starts with the defaults.
     *
     * @param masters an odd number, at least three, that know nothing of each other
     * @return a builder
     * @throws IllegalArgumentException if there are fewer than three or an even number of them, if one is there twice, or if one does not
     *     offer {@link LockFeature#TOKEN_FLOOR}
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
     * <p>Armed when a majority of the masters is; fails when no majority can be watched any more.
     */
    @Override
    public Flux<WatchSignal> watch(LockClaim claim) {
        return operations.watch(requireNonNull(claim, "claim"));
    }

    /**
     * {@inheritDoc} Asks each master. A claim holds the lock when a majority of the masters knows it as a holder. Fails when a majority does not answer, or
     * when it depends on masters that do not answer whether a claim holds.
     */
    @Override
    public Flux<LockHolder> holders(LockKey key) {
        requireNonNull(key, "key");
        return Flux.defer(() -> {
            Map<String, Mono<List<LockHolder>>> questions = new LinkedHashMap<>();
            for (int i = 0; i < members.size(); i++) {
                Mono<List<LockHolder>> question = members.get(i).holders(key).collectList();
                questions.put(names.get(i), question.timeout(limit, timer));
            }
            return MasterAnswers.ask(
                            questions,
                            key.name(),
                            "ask for the holders of lock '%s'".formatted(Printable.text(key.name())))
                    .flatMapIterable(answers -> MasterAnswers.holders(answers, key.name()));
        });
    }

    /**
     * A look into the locks over several masters, for operators. It asks all of them at once, and shows a claim as a holder when a majority knows it; it warns of
     * claims that fewer know, and of masters that do not answer. To break a hold it breaks it at all masters; the former holder learns of that by its
     * next renewal. It keeps what the masters answer in memory until the last one has answered, also to look at all locks.
     *
     * @param masters the inspectors of all masters, by what messages call each; closed with the result
     * @return an inspector, which fails when no majority answers
     */
    public static LockInspector inspector(Map<String, ? extends LockInspector> masters) {
        return new RedlockInspector(new LinkedHashMap<>(masters));
    }

    /**
     * Asks the masters for a sign of life.
     *
     * @return completes when a majority has answered; fails when that is out of reach
     */
    @Override
    public Mono<Void> ping() {
        return operations.ping();
    }

    /** {@inheritDoc} Each master is asked, such as for its quarantine. */
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
     * Ends what is still being undone in the background, for up to 2 s, then closes the masters, if so configured. Later requests fail with
     * {@link LockBackendException}. Begins when it is called. Idempotent.
     *
     * @return tells the end, and may be ignored
     */
    @Override
    public Mono<Void> close() {
        return operations.close();
    }

    /** Claims that wait or hold, for tests. */
    int claimCount() {
        return operations.claimCount();
    }

    /** Releases in the background, for tests. */
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
         * Sets how long one master may take for one request. An attempt takes up to two of these. As long as no majority has answered, a master that
         * has never answered gets more, for up to 5 s after its first request: 2 s or a quarter of the lease, less two of these.
         *
         * @param each at least 1 ms; default the longer of 50 ms and a hundredth of the lease, but at most a tenth of the lease
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
         * Sets what votes and messages call the masters.
         *
         * @param inOrder one for each master, without secrets; default: their {@link LockBackend#name} and position, such as
         *     {@code redis 3}
         * @return this
         * @throws IllegalArgumentException if there are more or fewer
         */
        public Builder names(List<String> inOrder) {
            if (inOrder.size() != masters.size()) {
                throw new IllegalArgumentException("names must be one for each of the %d masters, were %d"
                        .formatted(masters.size(), inOrder.size()));
            }
            names = List.copyOf(inOrder);
            return this;
        }

        /**
         * Sets the listener that is told of each vote when it is decided, on the thread that decided it.
         *
         * @param told never blocks and never throws; default none
         * @return this
         */
        public Builder listener(Consumer<? super Vote> told) {
            listener = requireNonNull(told, "told");
            return this;
        }

        /**
         * Sets the timer of time limits and pauses.
         *
         * @param clockAndDelays its {@code now(NANOSECONDS)} must be monotonic; stays the caller's; default: a shared scheduler
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

        /** The clock that proposed tokens run ahead of; for tests. */
        Builder wallClock(Clock clock) {
            wallClock = new WallClock(clock);
            return this;
        }

        /** Chance, in [0, 1); for tests. */
        Builder random(DoubleSupplier chance) {
            random = chance;
            return this;
        }

        /**
         * Builds it. Asks nothing yet.
         *
         * @return a back end
         */
        public RedlockBackend build() {
            return new RedlockBackend(this);
        }
    }
}
