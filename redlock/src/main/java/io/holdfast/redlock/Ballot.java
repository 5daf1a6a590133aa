package io.holdfast.redlock;

import io.holdfast.spi.support.Printable;
import java.time.Duration;

/**
 * The answer of one master in a {@link Vote}.
 *
 * @param master its name in messages; see {@link RedlockBackend.Builder#names}
 * @param answer its answer
 * @param after how long the answer took, or how long the client had waited for it
 * @param detail more of the answer, such as the token or the error; may be empty
 */
public record Ballot(String master, Answer answer, Duration after, String detail) {

    /** The answer of a master. */
    public enum Answer {
        /** It holds the claim, or held it until its release. */
        YES,
        /** It does not hold the claim. */
        NO,
        /** It may not vote for a known time, such as in quarantine after a restart. */
        ABSTAINED,
        /** It failed, or did not answer within its time limit: the effect of the request is unknown. */
        FAILED,
        /** It had not answered when the vote was decided, and its answer was not needed any more. */
        NOT_YET
    }

    /**
     * Returns a text for logs.
     *
     * @return such as {@code redis 3 said no after 2 ms}
     */
    @Override
    public String toString() {
        String said = switch (answer) {
            case YES -> "said yes after";
            case NO -> "said no after";
            case ABSTAINED -> "abstained after";
            case FAILED -> "failed after";
            case NOT_YET -> "had not answered after";
        };
        String end = detail.isEmpty() ? "" : " (" + detail + ")";
        return Printable.text("%s %s %d ms%s".formatted(master, said, after.toMillis(), end));
    }
}
