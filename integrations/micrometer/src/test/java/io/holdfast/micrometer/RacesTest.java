package io.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.memory.InMemoryLockBackend;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** The subscriber cancels on one thread while the lock is granted on another. */
class RacesTest {

    private static final int ROUNDS = 500;

    private final InMemoryLockBackend backend = InMemoryLockBackend.create();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final Recorder recorder = new Recorder();
    private final ExecutorService threads = Executors.newFixedThreadPool(2);

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    @Test
    void eachObservationIsStoppedOnceAndTheGaugesEndAtZero() throws Exception {
        ObservationRegistry observations = ObservationRegistry.create();
        observations.observationConfig().observationHandler(recorder);
        LockClient plain = LockClient.builder(backend)
                .listener(LockMetrics.of(meters, backend))
                .build();
        LockClient client = ObservedLocks.of(plain, backend, observations);
        for (int round = 0; round < ROUNDS; round++) {
            // Waits, because the former holder may still be releasing, on the thread of the back end's signals.
            LockLease held = plain.lock("stock/42").acquire().toFuture().get(30, TimeUnit.SECONDS);
            TestSubscriber<Object> waiting = TestSubscriber.create();
            client.lock("stock/42").withLock(Mono.<Object>just(1)).subscribe(waiting);
            atOnce(() -> held.release().subscribe(), waiting::cancel);
        }

        Void unused = client.close().toFuture().get(30, TimeUnit.SECONDS);
        eventually("no acquisition waits", () -> gauge("waiting") == 0);
        eventually("no lease is held", () -> gauge("held") == 0);
        eventually("all observations are stopped", () -> recorder.stopped.size() == ROUNDS);
        assertThat(recorder.started).hasSize(ROUNDS);
        Set<LockObservationContext> different = new HashSet<>(recorder.stopped);
        assertThat(different).hasSize(ROUNDS);
    }

    private double gauge(String name) {
        return meters.get("holdfast.lock." + name).gauge().value();
    }

    private static void eventually(String what, BooleanSupplier condition) {
        long giveUpAt = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!condition.getAsBoolean() && System.nanoTime() - giveUpAt < 0) {
            LockSupport.parkNanos(1_000_000);
        }
        assertThat(condition.getAsBoolean()).as(what).isTrue();
    }

    private void atOnce(Runnable one, Runnable other) throws Exception {
        CyclicBarrier together = new CyclicBarrier(2);
        Future<?> first = threads.submit(() -> together(together, one));
        Future<?> second = threads.submit(() -> together(together, other));
        first.get();
        second.get();
    }

    private static Void together(CyclicBarrier barrier, Runnable action) throws Exception {
        barrier.await();
        action.run();
        return null;
    }
}
