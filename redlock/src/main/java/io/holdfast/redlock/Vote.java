package io.holdfast.redlock;

import io.holdfast.spi.Printable;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/**
 * How the masters voted on one claim, as far as it was known when the vote was decided. Immutable.
 *
 * @param lockName the lock
 * @param question what they were asked
 * @param outcome what the majority said
 * @param took from the question to the decision
 * @param rounds 2 when the masters granted different tokens and had to be asked for one of them, else 1
 * @param ballots what each master said, in the order in which the masters were given
 */
public record Vote(
        String lockName, Question question, Outcome outcome, Duration took, int rounds, List<Ballot> ballots) {

    /** What the masters were asked. */
    public enum Question {
        /** To grant the lock. */
        ACQUIRE,
        /** To extend it. */
        RENEW,
        /** To end the claim. */
        RELEASE
    }

    /** What the majority said. */
    public enum Outcome {
        /** A majority holds the claim, or held it until its release. */
        YES,
        /** No majority does; of an acquisition: somebody else has votes that would be needed. */
        NO,
        /** So many failed that it is unknown. */
        UNKNOWN
    }

    /**
     * Makes the list of ballots immutable.
     *
     * @param lockName the lock
     * @param question what they were asked
     * @param outcome what the majority said
     * @param took from the question to the decision
     * @param rounds 1 or 2
     * @param ballots what each master said
     */
    public Vote {
        ballots = List.copyOf(ballots);
    }

    /**
     * Counts the ballots.
     *
     * @param answer which ones
     * @return how many masters said so
     */
    public int count(Ballot.Answer answer) {
        return (int) ballots.stream().filter(it -> it.answer() == answer).count();
    }

    /**
     * For logs.
     *
     * @return such as {@code ACQUIRE of lock 'stock/42': NO in 3 ms, 2 of 5 said yes [redis 1 said yes after 1 ms (token 17), …]}
     */
    @Override
    public String toString() {
        return "%s of lock '%s': %s in %d ms%s, %d of %d said yes %s"
                .formatted(
                        question,
                        Printable.text(lockName),
                        outcome,
                        took.toMillis(),
                        rounds == 1 ? "" : " and " + rounds + " rounds",
                        count(Ballot.Answer.YES),
                        ballots.size(),
                        ballots.stream().map(Ballot::toString).collect(Collectors.joining("; ", "[", "]")));
    }
}
