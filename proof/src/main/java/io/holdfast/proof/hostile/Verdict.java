package io.holdfast.proof.hostile;

import io.holdfast.testkit.history.BeliefCheck;
import io.holdfast.testkit.history.History;
import io.holdfast.testkit.history.RecoveryCheck;
import io.holdfast.testkit.history.RegisterCheck;
import io.holdfast.testkit.history.TokenCheck;
import io.holdfast.testkit.history.Violation;
import java.util.ArrayList;
import java.util.List;

/**
 * Checks each promise on its part of the evidence. It does not check the order of waiters: from outside, the moment at which a claim took its place is
 * unknown, and waiters that do not answer are passed over.
 */
final class Verdict {

    private final History history;
    private final History withoutGaps;
    private final Terms terms;

    Verdict(Evidence evidence, List<Gap> gaps, Terms terms) {
        this.terms = terms;
        history = evidence.all();
        withoutGaps = gaps.isEmpty() ? history : evidence.withoutGaps(gaps, terms.lease());
    }

    History history() {
        return history;
    }

    /** Returns the number of findings that would be violations if the back end promised more. */
    int unpromised() {
        return history.violations(new BeliefCheck(), new TokenCheck()).size()
                - withoutGaps.violations(new BeliefCheck(), new TokenCheck()).size();
    }

    /** Returns the part of the history in which exclusion is promised. */
    History promised() {
        return withoutGaps;
    }

    List<Violation> violations(List<String> others) {
        List<Violation> all = new ArrayList<>(withoutGaps.violations(new BeliefCheck()));
        History tokens = terms.target() == Target.REDLOCK ? Sharers.leftOut(withoutGaps) : withoutGaps;
        all.addAll(tokens.violations(new TokenCheck()));
        all.addAll(history.violations(new RegisterCheck(), new RecoveryCheck(Afterwards.limit(terms))));
        others.forEach(other -> all.add(new Violation("campaign", other)));
        return all;
    }
}
