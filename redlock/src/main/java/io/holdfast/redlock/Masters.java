package io.holdfast.redlock;

import io.holdfast.LockBackendException;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.Printable;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.scheduler.Scheduler;

/** The masters, and what all questions to them share. */
final class Masters {

    private static final Logger LOG = LoggerFactory.getLogger(RedlockBackend.class);

    private static final Duration LEAST_LIMIT = Duration.ofMillis(50);

    /** The default operation timeout of a long lease. */
    private static final Duration LONGEST_OPERATION = Duration.ofSeconds(2);

    final List<LockBackend> backends;
    final List<String> names;
    final Scheduler timer;
    final RequestDeadlines deadlines;
    final Cleanup cleanup;
    final DoubleSupplier random;

    private final FirstContacts contacts;
    private final List<Integer> all;
    private final @Nullable Duration limit;
    private final @Nullable Consumer<? super Vote> listener;
    private final WallClock wallClock;
    private final AtomicReference<TokenFloor> floor;

    Masters(RedlockBackend.Builder options, Scheduler timer) {
        backends = options.masters;
        contacts = new FirstContacts(backends.size());
        all = IntStream.range(0, backends.size()).boxed().toList();
        names = options.names;
        this.timer = timer;
        deadlines = new RequestDeadlines(timer);
        random = options.random;
        limit = options.limit;
        listener = options.listener;
        wallClock = options.wallClock;
        floor = new AtomicReference<>(TokenFloor.initial(wallClock.micros()));
        cleanup = new Cleanup(this);
    }

    int size() {
        return backends.size();
    }

    /** Their numbers. */
    List<Integer> all() {
        return all;
    }

    LockBackend backend(int master) {
        return backends.get(master);
    }

    String name(int master) {
        return names.get(master);
    }

    long now() {
        return timer.now(TimeUnit.NANOSECONDS);
    }

    /**
     * How long one master may take. Two rounds of it fit into the default operation timeout, a quarter of the lease, so that the error
     * which names the masters comes before the one that knows nothing.
     */
    Duration limit(Duration lease) {
        if (limit != null) {
            return limit;
        }
        long nanos = lease.toNanos();
        return Duration.ofNanos(Math.min(Math.max(nanos / 100, LEAST_LIMIT.toNanos()), nanos / 10));
    }

    /** Those of the last lease: most leases of a client are equally long. Immutable, so threads may write it as they come. */
    private volatile @Nullable LimitsOfLease known;

    private record LimitsOfLease(Duration lease, TimeLimits limits) {}

    TimeLimits limits(Duration lease) {
        LimitsOfLease last = known;
        if (last == null || !last.lease().equals(lease)) {
            last = new LimitsOfLease(lease, limitsOf(lease));
            known = last;
        }
        return last.limits();
    }

    /** A master's first answer may take as long as the default operation timeout allows, less two rounds. */
    private TimeLimits limitsOf(Duration lease) {
        Duration usual = limit(lease);
        long operation = Math.min(lease.toNanos() / 4, LONGEST_OPERATION.toNanos());
        Duration rest = Duration.ofNanos(operation).minus(usual.multipliedBy(2));
        return new TimeLimits(usual, rest.compareTo(usual) > 0 ? rest : usual, contacts);
    }

    /** For a question of which no lease tells how long it may take. */
    TimeLimits always(Duration limit) {
        return new TimeLimits(limit, contacts);
    }

    /** How long votes may be believed that were asked for at that time; the same margin as the engine's. */
    static long validUntil(long askedAtNanos, Duration lease) {
        long nanos = lease.toNanos();
        return askedAtNanos + nanos - nanos / 100 - 2_000_000;
    }

    long proposedFloor(long wanted) {
        return Math.max(wanted, floor.get().proposed(wallClock.micros()));
    }

    void granted(long token, long proposal) {
        long now = wallClock.micros();
        floor.updateAndGet(it -> it.seen(token, proposal, now));
    }

    boolean isListening() {
        return listener != null;
    }

    /** Each master has settings of its own. */
    void checkLease(Duration lease) {
        for (int master : all) {
            try {
                backend(master).checkLease(lease);
            } catch (IllegalArgumentException refused) {
                throw new IllegalArgumentException("%s: %s".formatted(name(master), refused.getMessage()), refused);
            }
        }
    }

    void tell(Vote vote) {
        if (listener == null) {
            return;
        }
        try {
            listener.accept(vote);
        } catch (RuntimeException broken) {
            LOG.warn("the listener of votes threw, which it must not: {}", Printable.text(broken.toString()));
        }
    }

    /** The failure of a question that no majority has answered. */
    LockBackendException undecided(String lockName, Vote vote, BallotBox ballots) {
        Optional<Duration> votesAfter = ballots.majorityVotesAfter();
        if (ballots.mayTryAgain() && votesAfter.isPresent()) {
            return notYet(lockName, vote, votesAfter.get());
        }
        return undecided(lockName, vote, ballots.mayTryAgain());
    }

    private LockBackendException notYet(String lockName, Vote vote, Duration after) {
        int failed = vote.count(Ballot.Answer.FAILED);
        String message =
                "%s: %d of %d masters may not vote yet, as in quarantine after a restart%s, and %d votes are needed; look again in %d ms, or use acquire(), which waits"
                        .formatted(
                                vote,
                                vote.count(Ballot.Answer.ABSTAINED),
                                size(),
                                failed == 0 ? "" : ", %d failed".formatted(failed),
                                Tally.majorityOf(size()),
                                after.toMillis());
        return LockBackendException.notYet(lockName, message, after);
    }

    private LockBackendException undecided(String lockName, Vote vote, boolean isTransient) {
        String advice = isTransient
                ? "bring the failed ones back, or check the network to them; trying again may help"
                : "correct what the failed ones complain of; trying again does not help";
        String message = "%s: too many masters failed, and %d of %d are needed; %s"
                .formatted(vote, Tally.majorityOf(size()), size(), advice);
        return new LockBackendException(lockName, message, isTransient, null);
    }
}
