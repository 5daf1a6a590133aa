package io.holdfast.redlock.internal.quorum;

import io.holdfast.LockBackendException;
import io.holdfast.redlock.Ballot;
import io.holdfast.redlock.Vote;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The answers of the masters with their times, as they came. It makes a readable {@link Vote} only for a listener or an
 * error. Not thread-safe.
 */
public final class VoteRecord {

    private static final Duration A_FAILED_ONE_MAY_BE_BACK = Duration.ofSeconds(1);

    private final List<String> names;
    private final long askedAtNanos;
    private final @Nullable Object[] said;
    private final long[] afterNanos;

    /**
     * Begins without an answer.
     *
     * @param names of the masters
     */
    public VoteRecord(List<String> names, long askedAtNanos) {
        this.names = names;
        this.askedAtNanos = askedAtNanos;
        said = new Object[names.size()];
        afterNanos = new long[names.size()];
    }

    public void put(int master, Object answerOrError, long nowNanos) {
        said[master] = answerOrError;
        afterNanos[master] = nowNanos - askedAtNanos;
    }

    /** The grants of these masters are no votes: their tokens are too far ahead. */
    void disbelieve(IntPredicate masters) {
        for (int i = 0; i < said.length; i++) {
            if (said[i] instanceof LockAttempt.Acquired grant && masters.test(i)) {
                said[i] = new Disbelieved(grant.fencingToken());
            }
        }
    }

    private record Disbelieved(long token) {}

    public Vote vote(String lockName, Vote.Question question, Vote.Outcome outcome, int rounds, long nowNanos) {
        long elapsed = nowNanos - askedAtNanos;
        List<Ballot> ballots = new ArrayList<>();
        for (int i = 0; i < said.length; i++) {
            Object it = said[i];
            long after = it == null ? elapsed : afterNanos[i];
            ballots.add(new Ballot(names.get(i), answer(it), Duration.ofNanos(after), detail(it)));
        }
        return new Vote(lockName, question, outcome, Duration.ofNanos(elapsed), rounds, ballots);
    }

    /** Returns why no majority has answered. */
    public Undecided undecided() {
        return new Undecided(mayTryAgain(), majorityVotesAfter().orElse(null));
    }

    /**
     * Whether a majority may answer next time: false if so many masters failed for good that the others are not a
     * majority.
     */
    private boolean mayTryAgain() {
        int forGood = 0;
        for (Object it : said) {
            forGood += it instanceof Throwable error && !isTransient(error) ? 1 : 0;
        }
        return said.length - forGood >= VoteCount.majorityOf(said.length);
    }

    /**
     * Returns when a majority may vote again, if only abstaining masters prevent that now.
     *
     * @return empty if no master abstains, or if the abstaining ones would not make a majority either
     */
    private Optional<Duration> majorityVotesAfter() {
        List<Duration> rests = Arrays.stream(said)
                .flatMap(it -> abstention(it).stream())
                .sorted()
                .toList();
        int failed = (int) Arrays.stream(said)
                        .filter(it -> it instanceof Throwable || it instanceof Disbelieved)
                        .count()
                - rests.size();
        int missing = VoteCount.majorityOf(said.length) - (said.length - failed - rests.size());
        if (rests.isEmpty() || missing > rests.size()) {
            return Optional.empty();
        }
        Duration rest = rests.get(Math.max(1, missing) - 1);
        boolean mayBeEarlier = failed > 0 && rest.compareTo(A_FAILED_ONE_MAY_BE_BACK) > 0;
        return Optional.of(mayBeEarlier ? A_FAILED_ONE_MAY_BE_BACK : rest);
    }

    /** Returns how long that master may not vote. */
    public static Optional<Duration> abstention(@Nullable Object said) {
        return said instanceof LockBackendException error ? error.retryAfter() : Optional.empty();
    }

    private static boolean isTransient(Throwable error) {
        return error instanceof MasterTimeoutException
                || (error instanceof LockBackendException known && known.isTransient());
    }

    /** Whether that master has not said no. */
    public boolean mayHold(int master) {
        return answer(said[master]) != Ballot.Answer.NO;
    }

    private static Ballot.Answer answer(@Nullable Object it) {
        if (it == null) {
            return Ballot.Answer.NOT_YET;
        }
        if (abstention(it).isPresent()) {
            return Ballot.Answer.ABSTAINED;
        }
        if (it instanceof Throwable || it instanceof Disbelieved) {
            return Ballot.Answer.FAILED;
        }
        boolean isYes = it instanceof LockAttempt.Acquired || it instanceof Renewal.Held || it == Ownership.HELD;
        return isYes ? Ballot.Answer.YES : Ballot.Answer.NO;
    }

    private static String detail(@Nullable Object it) {
        if (it instanceof LockAttempt.Acquired acquired) {
            return "token " + acquired.fencingToken();
        }
        if (it instanceof LockAttempt.Contended contended) {
            return "next attempt within %d ms"
                    .formatted(contended.nextAttemptWithin().toMillis());
        }
        if (it instanceof Disbelieved disbelieved) {
            return "token %d is far ahead of this client's clock, and no other master has such a token: correct the clock, or delete the lock's record at this master"
                    .formatted(disbelieved.token());
        }
        return it instanceof Throwable error ? String.valueOf(error.getMessage()) : "";
    }
}
