package io.holdfast.r2dbc.internal.mariadb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.r2dbc.internal.protocol.Answer;
import io.holdfast.r2dbc.internal.protocol.Operation;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class CallTextTest {

    private static final Operation B = operation(Operation.Verb.ACQUIRE, "b", "id1");
    private static final Operation A = operation(Operation.Verb.RELEASE, "a'|\n", "id 2");

    @Test
    void operationsAreSentInTheOrderOfTheirLocks() {
        assertThat(CallText.of(List.of(B, A)).batch())
                .isEqualTo(
                        "release mutex mutex 1 1 1 30000 0 1 61277c0a 69642032|queue mutex mutex 1 1 1 30000 0 1 62 696431|");
    }

    @Test
    void adoptionHasItsToken() {
        Operation adoption = new Operation(Operation.Verb.RENEW, A.claim(), false, 4711);
        assertThat(CallText.of(List.of(adoption)).batch()).startsWith("renew mutex mutex 1 1 1 30000 4711 0 ");
    }

    @Test
    void answersHaveTheNumbersOfTheGivenOperations() {
        List<Answer> answers = CallText.of(List.of(B, A))
                .answers("0 granted 4000 2003 3 holdfast_x_0 an id\n1 held 0 0\n2 acquired 8000 30000\n");
        assertThat(answers)
                .containsExactly(
                        new Answer(0, "granted", 4000, 2003, 3, "holdfast_x_0", "an id"),
                        new Answer(2, "held", 0, 0, 0, null, null),
                        new Answer(1, "acquired", 8000, 30_000, 0, null, null));
    }

    /** Operations on one lock keep their order. */
    @Test
    void releaseIsSentBeforeALaterAcquisitionOfTheSameLock() {
        Operation later = operation(Operation.Verb.ACQUIRE, "a'|\n", "id3");
        assertThat(CallText.of(List.of(A, later)).batch())
                .startsWith("release ")
                .contains("|queue ");
    }

    /** The text becomes part of a statement without escaping. */
    @Test
    void noNameOrIdCanEndTheText() {
        assertThat(CallText.of(List.of(A, operation(Operation.Verb.RENEW, "\\', 1); drop table x", "\\'")))
                        .batch())
                .matches("[a-z0-9_ |]*");
    }

    @Test
    void unexpectedAnswerIsQuotedInTheError() {
        assertThatThrownBy(() -> CallText.of(List.of(A)).answers("1 held\n"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("1 held");
    }

    private static Operation operation(Operation.Verb verb, String name, String id) {
        LockKey key = LockKey.of(LockKind.MUTEX, name);
        return new Operation(verb, LockClaim.first(key, id, Duration.ofSeconds(30), Waiting.QUEUE), true);
    }
}
