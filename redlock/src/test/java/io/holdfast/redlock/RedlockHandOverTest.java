package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LocalHandOver;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.spi.LockClaim;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.subscriber.TestSubscriber;

/** Redlock below a hand-over inside the process, in virtual time. */
class RedlockHandOverTest {

    @RegisterExtension
    final Five five = new Five();

    private final Five.Client client = five.client();
    private final Five.Client rival = five.client();
    private final LockClient locks = LockClient.builder(
                    LocalHandOver.builder(client.backend).timer(five.time).build())
            .timer(five.time)
            .build();

    /** Delays the requests after the grant by 5 ms, and the replies by as much. */
    private void delayAfter(long grants) {
        client.wires.forEach(it -> it.delayNanos = () -> grants() >= grants ? 5_000_000 : 0);
    }

    private long grants() {
        return five.votes.stream()
                .filter(it -> it.question() == Vote.Question.ACQUIRE && it.outcome() == Vote.Outcome.YES)
                .count();
    }

    /** Another thread handles the answers to the request for tokens while one thread sends the release. */
    @Test
    void workThatEndsBesideTheRequestForTokensIsNoLoss() {
        LockClaim before = Five.claim();
        rival.mustAcquire(before);
        Sinks.Empty<Void> workIsOver = Sinks.empty();
        AtomicInteger begun = new AtomicInteger();
        TestSubscriber<String> first = five.subscribe(locks.lock(Five.NAME).withLock(lease -> {
            begun.incrementAndGet();
            return workIsOver.asMono().then(Mono.just("done"));
        }));
        TestSubscriber<LockLease> second = five.subscribe(locks.lock(Five.NAME).acquire());
        delayAfter(grants() + 1);
        five.answer(rival.backend.release(before));
        for (int i = 0; i < 1_000 && begun.get() == 0; i++) {
            five.passMillis(1);
        }
        assertThat(begun).hasValue(1);
        five.passMillis(6); // the request for tokens has reached the masters
        client.up();
        second.cancel();
        client.wires.get(0).fateOfRequest = () -> {
            client.wires.get(0).fateOfRequest = () -> Wire.Fate.ARRIVES;
            five.passMillis(10);
            return Wire.Fate.ARRIVES;
        };
        workIsOver.tryEmitEmpty().orThrow();
        five.passMillis(100);
        assertThat(first.isTerminatedError()).as("a loss").isFalse();
        assertThat(first.getReceivedOnNext()).containsExactly("done");
        assertThat(five.holding()).isEmpty();
        five.subscribe(locks.close());
    }
}
