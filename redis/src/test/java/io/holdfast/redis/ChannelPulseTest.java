package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ChannelPulseTest {

    private static final int ROUNDS = 5_000;

    private final List<Runnable> beats = new CopyOnWriteArrayList<>();
    private final AtomicInteger asked = new AtomicInteger();

    @Test
    void whoWaitsForShortDoesNotEndThePulseOfWhoWaitsForLong() {
        CyclicBarrier together = new CyclicBarrier(2);
        List<ChannelPulse> pulses = new CopyOnWriteArrayList<>();
        for (int i = 0; i < ROUNDS; i++) {
            pulses.add(new ChannelPulse(
                    (millis, beat) -> beats.add(beat), System::nanoTime, asked::incrementAndGet, () -> {}));
        }
        CompletableFuture<Void> shortly = CompletableFuture.runAsync(() -> each(pulses, together, 0));
        CompletableFuture<Void> lasting = CompletableFuture.runAsync(() -> each(pulses, together, 600_000));
        CompletableFuture.allOf(shortly, lasting).join();
        List<Runnable> first = List.copyOf(beats);
        assertThat(first).hasSize(ROUNDS);

        ClientOverRedis.pause(Duration.ofMillis(1_100)); // the short wait is over

        first.forEach(Runnable::run);
        assertThat(asked).hasValue(ROUNDS);
    }

    private static void each(List<ChannelPulse> pulses, CyclicBarrier together, long millis) {
        try {
            for (ChannelPulse pulse : pulses) {
                together.await();
                pulse.beatFor(millis);
            }
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
