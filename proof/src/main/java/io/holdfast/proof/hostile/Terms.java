package io.holdfast.proof.hostile;

import java.time.Duration;
import java.util.List;

/**
 * What all who take part in a campaign have to know of its locks.
 *
 * @param target which back end
 * @param lease how long a lease lasts at most; for ZooKeeper, the time-out of a session
 * @param flaw what is wrong on purpose
 */
record Terms(Target target, Duration lease, Flaw flaw) {

    /** How many words {@link #toText} has. */
    static final int WORDS = 3;

    static Terms of(Target target) {
        return new Terms(target, target.lease(), Flaw.NONE);
    }

    Terms with(Flaw other) {
        return new Terms(target, lease, other);
    }

    Terms with(Duration shorter) {
        return new Terms(target, shorter, flaw);
    }

    String toText() {
        return "%s %d %s".formatted(target.word(), lease.toMillis(), flaw.word());
    }

    static Terms parse(List<String> words) {
        return new Terms(
                Target.parse(words.get(0)), Duration.ofMillis(Long.parseLong(words.get(1))), Flaw.parse(words.get(2)));
    }
}
