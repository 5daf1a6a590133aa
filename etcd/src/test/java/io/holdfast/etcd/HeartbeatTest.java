package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.test.scheduler.VirtualTimeScheduler;

class HeartbeatTest {

    private static final Duration PERIOD = Duration.ofSeconds(2);

    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final AtomicInteger beats = new AtomicInteger();
    private final AtomicBoolean isIdle = new AtomicBoolean();
    private final Heartbeat heartbeat = new Heartbeat(time, PERIOD, isIdle::get, beats::incrementAndGet);

    @Test
    void beatsFromTheFirstRequestOnWhileThereIsWork() {
        pass(5);
        assertThat(beats).hasValue(0);
        heartbeat.wake();
        heartbeat.wake();
        pass(30);
        assertThat(beats).hasValue(30);
    }

    @Test
    void restsWhenIdleAndTheNextRequestWakesIt() {
        heartbeat.wake();
        isIdle.set(true);
        pass(100);
        assertThat(beats).hasValue(10);
        heartbeat.wake();
        isIdle.set(false);
        pass(3);
        assertThat(beats).hasValue(13);
    }

    /** A claim that comes at the last idle beat is not forgotten. */
    @Test
    void requestDuringAnIdleTimeKeepsItAwake() {
        heartbeat.wake();
        isIdle.set(true);
        for (int round = 0; round < 5; round++) {
            pass(10);
            heartbeat.wake();
        }
        assertThat(beats).hasValue(50);
    }

    @Test
    void nothingWakesItAfterItsStop() {
        heartbeat.wake();
        heartbeat.stop();
        heartbeat.wake();
        pass(5);
        assertThat(beats).hasValue(0);
    }

    private void pass(int periods) {
        for (int i = 0; i < periods; i++) {
            time.advanceTimeBy(PERIOD);
        }
    }
}
