package io.holdfast.testkit.history;

import java.util.List;

/** One promise that a history must keep. Pure: the same history always has the same violations. */
public interface HistoryCheck {

    /**
     * Looks for what breaks the promise.
     *
     * @param history what happened
     * @return one violation for each operation that breaks it; empty when all is well
     */
    List<Violation> violations(History history);
}
