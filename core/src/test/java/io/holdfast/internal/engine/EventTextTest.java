package io.holdfast.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.LockEvent;
import io.holdfast.LockEvent.Subject;
import io.holdfast.LockKind;
import io.holdfast.LockLostException;
import io.holdfast.LossReason;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class EventTextTest {

    private static final String NAME = "stock/42";
    private static final Subject SUBJECT = new Subject(NAME, LockKind.MUTEX, 1, "00ff@till");
    private static final Duration TIME = Duration.ofMillis(1500);

    static Stream<LockEvent> warnings() {
        return Stream.of(
                new LockEvent.ReleaseUnconfirmed(SUBJECT, 7, TIME, unreachable()),
                new LockEvent.Lost(SUBJECT, 7, TIME, late()),
                new LockEvent.LeaseAbandoned(SUBJECT, 7, TIME),
                new LockEvent.WithdrawalUnconfirmed(SUBJECT, unreachable()));
    }

    @ParameterizedTest
    @MethodSource("warnings")
    void theSentenceOfAWarningNamesTheLockAndNoRecord(LockEvent event) {
        assertThat(EventText.of(event)).startsWith("lock 'stock/42'").doesNotContain("[", "PT");
    }

    @Test
    void anyOtherEventIsOnePrintableLine() {
        assertThat(EventText.of(
                        new LockEvent.Released(new Subject("stock\n42", LockKind.SEMAPHORE, 2, "00ff@till"), 7, TIME)))
                .isEqualTo(
                        "Released[subject=semaphore 'stock\\n42', claim 00ff@till, 2 permits, fencingToken=7, held=PT1.5S]");
    }

    @Test
    void aFailureNamesTheConsequenceAndTheMessageOfTheBackEnd() {
        assertThat(EventText.of(new LockEvent.ReleaseUnconfirmed(SUBJECT, 7, TIME, unreachable())))
                .isEqualTo(
                        "lock 'stock/42' with token 7, held for 1500 ms, could not be released; the back end frees it when its lease ends: the server is unreachable");
    }

    @Test
    void aLossSaysWhy() {
        assertThat(EventText.of(new LockEvent.Lost(SUBJECT, 7, TIME, late())))
                .isEqualTo(
                        "lock 'stock/42' with token 7 lost after 1500 ms: it was late; treat the work under it as unprotected (EXPIRED)");
    }

    private static LockLostException late() {
        return new LockLostException(NAME, LossReason.EXPIRED, 7, "it was late", null);
    }

    private static LockBackendException unreachable() {
        return new LockBackendException(NAME, "the server is unreachable", true, null);
    }
}
