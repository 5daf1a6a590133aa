package io.holdfast.testkit.history;

import java.util.List;

/** A promise that a history must keep. It is pure: the same history always has the same violations. */
public interface HistoryCheck {

    /**
     * Finds the violations of the promise.
     *
     * @param history the history
     * @return one violation for each operation that breaks the promise; empty when there are none
     */
    List<Violation> violations(History history);
}
