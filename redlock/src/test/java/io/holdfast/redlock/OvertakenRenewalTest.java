package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;
import reactor.test.subscriber.TestSubscriber;

class OvertakenRenewalTest {

    @RegisterExtension
    final Five five = new Five();

    private final Five.Client client = five.client();
    private final Sinks.Many<WatchSignal> push = Sinks.many().multicast().onBackpressureBuffer();
    private final List<LockEvent> events = new ArrayList<>();

    /**
     * Two masters are unreachable, and a late signal makes the holder renew. At one of the other three, the release is
     * faster than that renewal.
     */
    @Test
    void renewalThatItsReleaseOvertakesIsUndecidedAndNotReported() {
        client.down(1, 2);
        LockBackend signalled = new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return client.backend;
            }

            @Override
            public Flux<WatchSignal> watch(LockClaim claim) {
                return push.asFlux();
            }
        };
        LockClient locks = LockClient.builder(signalled)
                .timer(five.time)
                .closeBackend(false)
                .listener(events::add)
                .build();
        LockLease lease = five.answer(locks.lock(Five.NAME).acquire());
        client.wires.get(3).delayNanos = () -> 2_000_000;
        client.wires.get(4).delayNanos = () -> 4_000_000;
        push.tryEmitNext(new WatchSignal.Changed()).orThrow();
        five.passMillis(1);
        client.wires.get(3).delayNanos = () -> 0;
        TestSubscriber<Void> released = five.subscribe(lease.release());
        five.passMillis(20);
        assertThat(released.isTerminatedComplete()).isTrue();
        Vote renewal = five.votes.stream()
                .filter(it -> it.question() == Vote.Question.RENEW)
                .findFirst()
                .orElseThrow();
        assertThat(renewal)
                .asString()
                .contains("UNKNOWN", "1 of 5 said yes", "three said yes", "four said no", "five had not answered");
        assertThat(events).noneMatch(it -> it instanceof LockEvent.RenewalFailed || it instanceof LockEvent.Lost);
        five.subscribe(locks.close());
        client.up();
        five.passMillis(5_000);
    }
}
