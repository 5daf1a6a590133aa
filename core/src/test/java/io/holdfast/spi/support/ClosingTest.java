package io.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;
import reactor.test.subscriber.TestSubscriber;

class ClosingTest {

    private final AtomicInteger begun = new AtomicInteger();
    private final Sinks.Empty<Void> work = Sinks.empty();
    private final Closing closing =
            new Closing("a thing", work.asMono().doOnSubscribe(subscription -> begun.incrementAndGet()));

    @Test
    void itBeginsAtTheFirstCallAndOnce() {
        assertThat(begun).hasValue(0);

        Mono<Void> ignored = closing.begin();
        StepVerifier.create(closing.begin())
                .then(() -> work.emitEmpty(Sinks.EmitFailureHandler.FAIL_FAST))
                .verifyComplete();
        StepVerifier.create(ignored).verifyComplete();

        assertThat(begun).hasValue(1);
    }

    @Test
    void cancellingCancelsNothing() {
        TestSubscriber<Void> left = TestSubscriber.create();
        closing.begin().subscribe(left);
        left.cancel();

        assertThat(work.currentSubscriberCount()).isOne();
    }

    @Test
    void eachSubscriberGetsTheFailure() {
        Mono<Void> end = closing.begin();
        work.emitError(new IllegalStateException("stuck"), Sinks.EmitFailureHandler.FAIL_FAST);

        StepVerifier.create(end).verifyErrorMessage("stuck");
        StepVerifier.create(closing.begin()).verifyErrorMessage("stuck");
    }
}
