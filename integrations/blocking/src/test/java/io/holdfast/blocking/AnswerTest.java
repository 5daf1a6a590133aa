package io.holdfast.blocking;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.publisher.TestPublisher;
import reactor.util.context.Context;

/** A value that arrives when the thread is interrupted, in each order. */
class AnswerTest {

    private final List<String> discarded = new ArrayList<>();
    private final Answer<String> answer = new Answer<>(Context.empty(), discarded::add);

    @Test
    void aLeaseThatArrivesAfterTheInterruptIsReleased() {
        TestPublisher<String> source = TestPublisher.createNoncompliant(TestPublisher.Violation.CLEANUP_ON_TERMINATE);
        source.subscribe(answer);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> answer.within(Long.MAX_VALUE)).isInstanceOf(InterruptedException.class);
        source.assertCancelled();
        source.emit("lease");

        assertThat(discarded).containsExactly("lease");
    }

    @Test
    void aLeaseThatArrivedBeforeTheThreadSawItsInterruptIsReleased() {
        Mono.just("lease").subscribe(answer);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> answer.within(Long.MAX_VALUE)).isInstanceOf(InterruptedException.class);

        assertThat(discarded).containsExactly("lease");
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void aLeaseThatArrivesAfterTheTimeIsReleased() throws Exception {
        TestPublisher<String> source = TestPublisher.createNoncompliant(TestPublisher.Violation.CLEANUP_ON_TERMINATE);
        source.subscribe(answer);
        assertThat(answer.within(1)).isNull();
        source.emit("lease");

        assertThat(discarded).containsExactly("lease");
    }

    @Test
    void aWaitThatGoesOnKeepsTheInterruptPending() {
        Mono.just("lease").subscribe(answer);
        Thread.currentThread().interrupt();

        assertThat(answer.uninterruptibly()).isEqualTo("lease");
        assertThat(Thread.interrupted()).isTrue();
        assertThat(discarded).isEmpty();
    }
}
