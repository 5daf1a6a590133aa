package io.holdfast.blocking;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockInspector;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LockReport;
import io.holdfast.LossReason;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.support.ForwardingLockBackend;
import io.holdfast.testkit.FaultyLockBackend;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** A store in memory, whose locks a test can take away. */
final class Store {

    static final Duration LIMIT = Duration.ofSeconds(10);
    static final LockOptions OPTIONS =
            LockOptions.builder().leaseDuration(Duration.ofSeconds(20)).build();

    final InMemoryLockBackend backend = InMemoryLockBackend.create();
    final FaultyLockBackend faulty = FaultyLockBackend.over(backend, Schedulers.parallel());
    final boolean hasRuns;
    final LockClient client;
    final BlockingLocks locks;

    Store() {
        this(true);
    }

    /** {@code hasRuns}: otherwise each lease has a grant of its own, and can be taken away alone. */
    Store(boolean hasRuns) {
        this.hasRuns = hasRuns;
        Set<LockFeature> features = new HashSet<>(faulty.features());
        if (!hasRuns) {
            features.remove(LockFeature.RUNS);
        }
        LockBackend store = new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return faulty;
            }

            @Override
            public Set<LockFeature> features() {
                return features;
            }
        };
        client = LockClient.builder(store).options(OPTIONS).closeBackend(false).build();
        locks = BlockingLocks.of(client);
    }

    /** Takes the lock away. When it returns, the holder was told. An interrupt of the loss stays pending. */
    void lose(LockLease lease) {
        CompletableFuture<LossReason> told = lease.onLoss().toFuture(); // emitted after the signal to the holder
        new Thread(() -> takeAway(lease)).start();
        assertThat(told.join()).isEqualTo(LossReason.NOT_HELD);
    }

    void takeAway(LockLease lease) {
        LockInspector inspector = backend.inspector();
        inspector
                .inspect(lease.lockName())
                .flatMapIterable(LockReport::holders)
                // The back end knows the first token of a run, which has several leases in turn.
                .filter(holder -> hasRuns
                        ? holder.fencingToken() <= lease.fencingToken() && lease.isValid()
                        : holder.fencingToken() == lease.fencingToken())
                .flatMap(holder -> inspector.breakHold(lease.lockName(), holder))
                .then(lease.renew())
                .onErrorComplete()
                .block(LIMIT);
    }

    boolean isHeld(String name) {
        return client.election(name).leader().hasElement().block(LIMIT);
    }

    /** Waits until as many claims wait for the lock. */
    void awaitWaiters(String name, int number) {
        Mono.defer(() -> backend.inspector().inspect(name).next())
                .filter(report -> report.waiterCount() == number)
                .repeatWhenEmpty(again -> again.delayElements(Duration.ofMillis(1)))
                .block(LIMIT);
    }
}
