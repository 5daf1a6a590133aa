package io.holdfast.testkit.history;

import static io.holdfast.testkit.history.WrittenHistory.MUTEX;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.holdfast.LockKind;
import io.holdfast.spi.LockKey;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HistoryTest {

    private static final LockKey STRANGE = new LockKey(LockKind.SEMAPHORE, "a b\n+%é -", 7);

    @Test
    void linesOfSeveralProcessesAreMergedByTime() throws IOException {
        StringWriter one = new StringWriter();
        StringWriter other = new StringWriter();
        HistoryRecorder a = HistoryRecorder.lines("a 1", one);
        HistoryRecorder b = HistoryRecorder.lines("b", other);
        long first = a.asked(-5, STRANGE);
        long second = b.asked(-4, MUTEX);
        b.ended(-3, second, "failed: no connection\nat all");
        a.acquired(-2, first, 17, 100);
        History read = History.read(List.of(new StringReader(other.toString()), new StringReader(one.toString())));

        assertThat(read.events()).extracting(HistoryEvent::nanos).containsExactly(-5L, -4L, -3L, -2L);
        assertThat(read.operations()).first().satisfies(operation -> {
            assertThat(operation.lock()).isEqualTo(STRANGE);
            assertThat(operation.process()).isEqualTo("a 1");
            assertThat(operation.token()).isEqualTo(17);
            assertThat(operation.believedUntil()).isEqualTo(100);
        });
        assertThat(read.events().get(2).note()).isEqualTo("failed: no connection\nat all");
        StringWriter again = new StringWriter();
        read.write(again);
        assertThat(History.read(List.of(new StringReader(again.toString()))).events())
                .isEqualTo(read.events());
    }

    @Test
    void theLineThatAKilledProcessCouldNotFinishIsLeftOut() throws IOException {
        String whole = new HistoryEvent(1, "p", 1, HistoryEvent.What.ASKED, MUTEX, 0, 0, "").line();
        String cut = new HistoryEvent(2, "p", 1, HistoryEvent.What.ENDED, null, 0, 0, "cancelled").line();
        for (int length = 1; length < cut.lastIndexOf(' ') + 2; length++) {
            String text = whole + '\n' + cut.substring(0, length);
            assertThat(History.read(List.of(new StringReader(text))).events()).hasSize(1);
        }
    }

    @Test
    void aMalformedLineInTheMiddleIsRefused() {
        String text = "nonsense\n" + new HistoryEvent(1, "p", 1, HistoryEvent.What.ASKED, MUTEX, 0, 0, "").line();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> History.read(List.of(new StringReader(text))))
                .withMessageContaining("nonsense");
    }

    @Test
    void anEventOfAnUnknownAcquisitionIsRefused() {
        HistoryEvent stray = new HistoryEvent(1, "p", 3, HistoryEvent.What.ACQUIRED, null, 1, 0, "");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> History.of(List.of(stray)))
                .withMessageContaining("never requested");
    }

    @Test
    void unknownTimesStayUnknown() {
        HistoryRecorder process = HistoryRecorder.inMemory("p");
        long unused = process.asked(1, MUTEX);
        LockOperation operation = History.of(process.events()).operations().get(0);
        assertThat(operation.hasAcquired()).isFalse();
        assertThat(operation.endedAt()).isEqualTo(LockOperation.NEVER);
        assertThat(operation.believedUntil()).isEqualTo(LockOperation.NEVER);
    }

    @Test
    void aLongHistoryOfManyWaitersIsChecked() {
        List<HistoryEvent> events = new ArrayList<>();
        HistoryRecorder process = HistoryRecorder.to("p", events::add);
        int waiting = 2_000;
        for (int i = 0; i < 100_000; i++) {
            long op = process.asked(10L * i, MUTEX);
            process.queued(10L * i + 1, op);
            long acquired = 10L * (i + waiting);
            process.acquired(acquired, op, i + 1, acquired + 9);
            process.releaseAsked(acquired + 9, op);
        }
        assertThat(History.of(events)
                        .violations(new BeliefCheck(), new TokenCheck(), new RegisterCheck(), new QueueCheck()))
                .isEmpty();
    }
}
