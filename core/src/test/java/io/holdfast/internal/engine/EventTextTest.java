package io.holdfast.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.LockEvent;
import io.holdfast.LockTimeoutException;
import io.holdfast.LossReason;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class EventTextTest {

    private static final String NAME = "stock/42";
    private static final Duration TIME = Duration.ofMillis(1500);

    static Stream<LockEvent> events() {
        return Stream.of(
                new LockEvent.AcquireStarted(NAME),
                new LockEvent.Acquired(NAME, 7, TIME, 3),
                new LockEvent.NotAvailable(NAME, TIME),
                new LockEvent.AcquireFailed(NAME, TIME, 3, new LockTimeoutException(NAME, TIME, 3, null)),
                new LockEvent.AcquireCancelled(NAME, TIME, 1),
                new LockEvent.AttemptFailed(NAME, 2, unreachable()),
                new LockEvent.RenewalFailed(NAME, 7, TIME, unreachable()),
                new LockEvent.Released(NAME, 7, TIME),
                new LockEvent.ReleaseUnconfirmed(NAME, 7, TIME, unreachable()),
                new LockEvent.Lost(NAME, 7, LossReason.EXPIRED, TIME),
                new LockEvent.HandedOn(NAME, 7, TIME),
                new LockEvent.Downgraded(NAME, 7, TIME),
                new LockEvent.LeaseAbandoned(NAME, 7, TIME),
                new LockEvent.WithdrawalUnconfirmed(NAME, unreachable()));
    }

    @Test
    void thereIsASentenceForEachKindOfEvent() {
        Set<Class<?>> kinds = events().map(Object::getClass).collect(Collectors.toSet());
        assertThat(kinds).containsExactlyInAnyOrder(LockEvent.class.getPermittedSubclasses());
    }

    @ParameterizedTest
    @MethodSource("events")
    void aSentenceNamesTheLockAndNoRecord(LockEvent event) {
        assertThat(EventText.of(event)).startsWith("lock 'stock/42'").doesNotContain("[", "PT");
    }

    @Test
    void aFailureNamesTheConsequenceAndTheMessageOfTheBackEnd() {
        assertThat(EventText.of(new LockEvent.ReleaseUnconfirmed(NAME, 7, TIME, unreachable())))
                .isEqualTo(
                        "lock 'stock/42' with token 7, held for 1500 ms, could not be released; the back end frees it when its lease ends: the server is unreachable");
    }

    @ParameterizedTest
    @MethodSource("reasons")
    void aLossSaysWhy(LossReason reason) {
        assertThat(EventText.of(new LockEvent.Lost(NAME, 7, reason, TIME)))
                .startsWith("lock 'stock/42' with token 7 lost after 1500 ms: ")
                .endsWith("(" + reason + ")");
    }

    private static LockBackendException unreachable() {
        return new LockBackendException(NAME, "the server is unreachable", true, null);
    }

    static Stream<LossReason> reasons() {
        return Stream.of(LossReason.values());
    }
}
