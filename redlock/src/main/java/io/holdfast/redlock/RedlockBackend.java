package io.holdfast.redlock;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockBackendException;
import io.holdfast.spi.Closing;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Printable;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import java.time.Clock;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.IdentityHashMap;
import java.util.List;
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
 * Locks held by a majority of independent masters, such as five Redis servers that know nothing of each other: the Redlock algorithm, with
 * fencing tokens. It works as long as a majority of the masters does.
 *
 * <pre>{@code
 * LockClient locks = LockClient.create(RedlockBackend.over(List.of(one, two, three, four, five)));
 * }</pre>
 *
 * <p><b>How</b>: every master is asked at once, each with a time limit of its own. A look is decided as soon as a majority has said yes, or
 * cannot any more; a slow or hung master costs nothing while a majority answers. A master's first answer may take the time of a
 * connection. Every yes of a lost look is undone, late ones too.
 * A lease is valid for as long as a majority keeps it, less the time that the look took, 1 % and 2 ms. A renewal needs a
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
 *       rest of the lease. If broken: the act happens after the lock went to somebody else. No lock service can prevent that.
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
 * <p>In each of these cases the fencing token is the answer: whatever the lock protects should remember the token of the last one that
 * read in order to write, and refuse lower ones ({@link io.holdfast.LockLease}). After loss of data tokens still rise, as long as the clocks of servers and clients differ by less than the
 * time between the two grants.
 *
 * <p><b>Kinds</b>: mutex, and read/write locks where all masters offer them. A semaphore is refused: of three masters with two permits, each
 * two can let in a different pair, so three clients would win. Waiters do not queue at the masters, because halves of two queues could wait for
 * each other for ever: who waits looks again when a master tells of a release, or after a random pause. So the lock is not first come, first
 * served, and a writer may be passed by readers.
 *
 * <p>Thread-safe. Answers come on the threads of the masters, or of the timer.
 */
public final class RedlockBackend implements LockBackend {

    private static final Duration LONGEST_FAREWELL = Duration.ofSeconds(2);

    private final Masters masters;
    private final Candidates candidates;
    private final Set<LockFeature> features;
    private final Closing closing;

    /** Written once, by the closing. */
    private volatile boolean isClosed;

    private RedlockBackend(Builder builder) {
        masters = new Masters(builder, builder.timer != null ? builder.timer : Schedulers.parallel());
        candidates = new Candidates(masters.size());
        features = featuresOf(builder.masters);
        Mono<Void> end = Mono.<Void>fromRunnable(() -> isClosed = true)
                .then(masters.cleanup.finish().timeout(LONGEST_FAREWELL, Mono.empty(), masters.timer));
        closing = new Closing(
                "the Redlock back end",
                builder.closesMasters
                        ? end.then(Mono.defer(() -> Mono.whenDelayError(masters.backends.stream()
                                .map(LockBackend::close)
                                .toList())))
                        : end);
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

    private static Set<LockFeature> featuresOf(List<LockBackend> masters) {
        Set<LockFeature> common = EnumSet.of(LockFeature.TOKEN_FLOOR);
        if (masters.stream().allMatch(it -> it.features().contains(LockFeature.READ_WRITE))) {
            common.add(LockFeature.READ_WRITE);
        }
        return Collections.unmodifiableSet(common);
    }

    @Override
    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
        requireNonNull(claim, "claim");
        return unlessClosed("acquire", claim, () -> {
            if (claim.key().kind() == LockKind.SEMAPHORE) {
                throw new UnsupportedOperationException(
                        "a semaphore over several masters is not safe: of three masters with two permits, each two can let in a different pair; use one master for it");
            }
            if (claim.tokenFloor() >= TokenFloor.LIMIT) {
                throw new IllegalArgumentException("tokenFloor of lock '%s' must be below 2^53 - 2^40, was %d"
                        .formatted(Printable.text(claim.key().name()), claim.tokenFloor()));
            }
            return RoundTurn.ask(masters, candidates, claim);
        });
    }

    @Override
    public Mono<Renewal> renew(LockClaim claim) {
        requireNonNull(claim, "claim");
        return unlessClosed("renew", claim, () -> RenewalRound.ask(masters, candidates, List.of(claim)))
                .map(answers -> answers.get(0))
                .flatMap(answer -> answer instanceof Renewal.Unknown it ? Mono.error(it.failure()) : Mono.just(answer));
    }

    /** {@inheritDoc} Sends one request to each master. */
    @Override
    public Flux<Renewal> renewAll(List<LockClaim> claims) {
        List<LockClaim> batch = List.copyOf(claims);
        return batch.isEmpty()
                ? Flux.empty()
                : unlessClosed("renew", batch.get(0), () -> RenewalRound.ask(masters, candidates, batch))
                        .flatMapIterable(answers -> answers);
    }

    @Override
    public Mono<Ownership> release(LockClaim claim) {
        requireNonNull(claim, "claim");
        return unlessClosed("release", claim, () -> ReleaseRound.ask(masters, candidates, claim));
    }

    /**
     * {@inheritDoc}
     *
     * <p>Armed when a majority of the masters is; fails when no majority can be watched any more.
     */
    @Override
    public Flux<WatchSignal> watch(LockClaim claim) {
        requireNonNull(claim, "claim");
        return Flux.defer(() ->
                isClosed ? Flux.error(closed("watch", claim.key().name())) : VoteWatch.of(masters, candidates, claim));
    }

    /**
     * Asks the masters for a sign of life.
     *
     * @return completes when a majority has answered; fails when that is out of reach
     */
    @Override
    public Mono<Void> ping() {
        return Mono.defer(() -> isClosed ? Mono.error(closed("ping", "")) : PingRound.ask(masters));
    }

    /** {@inheritDoc} Each master is asked, such as for its quarantine. */
    @Override
    public void checkLease(Duration lease) {
        masters.checkLease(lease);
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
        return closing.begin();
    }

    /** Claims that wait or hold, for tests. */
    int candidateCount() {
        return candidates.size(masters.now());
    }

    /** Releases in the background, for tests. */
    int cleanupCount() {
        return masters.cleanup.underWay();
    }

    private <T> Mono<T> unlessClosed(String verb, LockClaim claim, Supplier<Mono<T>> question) {
        return Mono.defer(() -> isClosed ? Mono.error(closed(verb, claim.key().name())) : question.get());
    }

    private static LockBackendException closed(String verb, String lockName) {
        String what = lockName.isEmpty() ? verb : "%s lock '%s'".formatted(verb, lockName);
        return new LockBackendException(
                lockName, "cannot %s: the Redlock back end is closed; create a new one".formatted(what), false, null);
    }

    @Override
    public String toString() {
        return "RedlockBackend%s".formatted(masters.names);
    }

    /** Options of a {@link RedlockBackend}. Not thread-safe. */
    public static final class Builder {

        final List<LockBackend> masters;
        List<String> names;

        @Nullable
        Duration limit;

        @Nullable
        Scheduler timer;

        @Nullable
        Consumer<? super Vote> listener;

        DoubleSupplier random = () -> ThreadLocalRandom.current().nextDouble();
        WallClock wallClock = WallClock.ofSystem();
        private boolean closesMasters = true;

        private Builder(List<LockBackend> masters) {
            check(masters);
            this.masters = masters;
            names = IntStream.range(0, masters.size())
                    .mapToObj(i -> masters.get(i).name() + " " + (i + 1))
                    .toList();
        }

        private static void check(List<LockBackend> masters) {
            int size = masters.size();
            if (size < 3) {
                throw new IllegalArgumentException(
                        "masters must be at least three, was %d: fewer cannot lose one and still have a majority; use one master without RedlockBackend"
                                .formatted(size));
            }
            if (size % 2 == 0) {
                throw new IllegalArgumentException(
                        "masters must be an odd number, was %d: an even one survives no more failures than %d do, and two contenders can split it in halves; use %d or %d"
                                .formatted(size, size - 1, size - 1, size + 1));
            }
            Set<LockBackend> distinct = Collections.newSetFromMap(new IdentityHashMap<>());
            for (int i = 0; i < size; i++) {
                LockBackend master = masters.get(i);
                if (!distinct.add(master)) {
                    throw new IllegalArgumentException(
                            "masters must be different stores, but number %d is there twice".formatted(i + 1));
                }
                if (!master.features().contains(LockFeature.TOKEN_FLOOR)) {
                    throw new IllegalArgumentException(
                            "masters must offer TOKEN_FLOOR, but number %d, '%s', does not: its tokens cannot be made to rise over several masters; use it without RedlockBackend"
                                    .formatted(i + 1, master.name()));
                }
            }
        }

        /**
         * Sets how long one master may take for one request. A look takes up to two of these. As long as no majority has answered, a master that
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
         * Sets who is told of each vote when it is decided, on the thread that decided it.
         *
         * @param told never blocks and never throws; default nobody
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
