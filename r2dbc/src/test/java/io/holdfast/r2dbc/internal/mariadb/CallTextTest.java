package io.holdfast.r2dbc.internal.mariadb;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.r2dbc.internal.protocol.Operation;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class CallTextTest {

    private static final Operation B = operation(Operation.Verb.ACQUIRE, "b", "id1");
    private static final Operation A = operation(Operation.Verb.RELEASE, "a'|\n", "id 2");

    @Test
    void operationHasAllItsParts() {
        assertThat(CallText.of(List.of(A, B)))
                .isEqualTo(
                        "release mutex mutex 1 1 1 30000 0 1 61277c0a 69642032|queue mutex mutex 1 1 1 30000 0 1 62 696431|");
    }

    @Test
    void adoptionHasItsToken() {
        Operation adoption = new Operation(Operation.Verb.RENEW, A.claim(), false, 4711);
        assertThat(CallText.of(List.of(adoption))).startsWith("renew mutex mutex 1 1 1 30000 4711 0 ");
    }

    /** The text becomes part of a statement without escaping. */
    @Test
    void noNameOrIdCanEndTheText() {
        assertThat(CallText.of(List.of(A, operation(Operation.Verb.RENEW, "\\', 1); drop table x", "\\'"))))
                .matches("[a-z0-9_ |]*");
    }

    private static Operation operation(Operation.Verb verb, String name, String id) {
        LockKey key = LockKey.of(LockKind.MUTEX, name);
        return new Operation(verb, LockClaim.first(key, id, Duration.ofSeconds(30), Waiting.QUEUE), true);
    }
}
