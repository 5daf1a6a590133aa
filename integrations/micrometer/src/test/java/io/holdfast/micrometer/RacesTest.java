package io.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.InMemoryLockBackend;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** The subscriber leaves, on one thread, while the lock is granted on another. */
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
    void eachObservationIsStoppedOnceAndNobodyWaitsOrHoldsInTheEnd() throws Exception {
        ObservationRegistry observations = ObservationRegistry.create();
        observations.observationConfig().observationHandler(recorder);
        LockClient plain = LockClient.builder(backend)
                .listener(LockMetrics.of(meters, backend))
                .build();
        LockClient client = ObservedLocks.of(plain, backend, observations);
        for (int round = 0; round < ROUNDS; round++) {
            TestSubscriber<LockLease> holder = TestSubscriber.create();
            plain.lock("stock/42").acquire().subscribe(holder);
            LockLease held = holder.getReceivedOnNext().get(0);
            TestSubscriber<Object> waiting = TestSubscriber.create();
            client.lock("stock/42").withLock(Mono.<Object>just(1)).subscribe(waiting);
            atOnce(() -> held.release().subscribe(), waiting::cancel);
        }

        assertThat(recorder.started).hasSize(ROUNDS);
        assertThat(recorder.stopped).hasSize(ROUNDS);
        Set<LockObservationContext> different = new HashSet<>(recorder.stopped);
        assertThat(different).hasSize(ROUNDS);
        assertThat(meters.get("holdfast.lock.waiting").gauge().value()).isZero();
        assertThat(meters.get("holdfast.lock.held").gauge().value()).isZero();
        Disposable unused = client.close().subscribe();
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
