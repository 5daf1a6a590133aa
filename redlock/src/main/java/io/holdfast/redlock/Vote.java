package io.holdfast.redlock;

import io.holdfast.spi.support.Printable;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The votes of the masters on one claim, as far as they were known when the vote was decided. Immutable.
 *
 * @param lockName the lock
 * @param question the request to the masters
 * @param outcome the answer of the majority
 * @param took from the request to the decision
 * @param rounds 2 if the masters granted different tokens and the client sent a second request, else 1
 * @param ballots the answer of each master, in the order of the masters
 */
public record Vote(
        String lockName, Question question, Outcome outcome, Duration took, int rounds, List<Ballot> ballots) {

    /** The request to the masters. */
    public enum Question {
        /** To grant the lock. */
        ACQUIRE,
        /** To extend it. */
        RENEW,
        /** To end the claim. */
        RELEASE
    }

    /** The answer of the majority. */
    public enum Outcome {
        /** A majority holds the claim, or held it until its release. */
        YES,
        /** No majority holds it. For an acquisition: another claim has votes that this one needs. */
        NO,
        /** So many masters failed that the outcome is unknown. */
        UNKNOWN
    }

    /**
     * Makes the list of ballots immutable.
     *
     * @param lockName the lock
     * @param question the request to the masters
     * @param outcome the answer of the majority
     * @param took from the request to the decision
     * @param rounds 1 or 2
     * @param ballots the answer of each master
     */
    public Vote {
        ballots = List.copyOf(ballots);
    }

    /**
     * Counts the ballots with one answer.
     *
     * @param answer the answer
     * @return how many masters gave it
     */
    public int count(Ballot.Answer answer) {
        return (int) ballots.stream().filter(it -> it.answer() == answer).count();
    }

    /**
     * Returns a text for logs.
     *
     * @return such as {@code ACQUIRE of lock 'stock/42': NO in 3 ms, 2 of 5 said yes [redis 1 said yes after 1 ms
     *     (token 17), …]}
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
