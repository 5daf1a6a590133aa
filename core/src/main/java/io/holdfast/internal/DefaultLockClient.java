package io.holdfast.internal;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockClosedException;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.ReactiveReadWriteLock;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** Makes locks, and closes what they started. */
final class DefaultLockClient implements LockClient {

    private record ReadWriteLock(ReactiveLock readLock, ReactiveLock writeLock) implements ReactiveReadWriteLock {}

    private final Engine engine;
    private final LockOptions defaults;
    private final Duration patience;
    private final Scheduler timer;
    private final Mono<Void> closing;

    DefaultLockClient(Engine engine, LockOptions defaults, Scheduler timer, boolean closeBackend) {
        this.engine = engine;
        this.defaults = defaults;
        this.timer = timer;
        patience = engine.operationTimeout(defaults);
        Mono<Void> end = Mono.defer(() -> engine.shutDown().asMono())
                .timeout(patience, Mono.empty(), timer)
                .onErrorResume(RejectedExecutionException.class, disposed -> Mono.empty())
                .then(Mono.fromRunnable(engine::abandonRest));
        closing = (closeBackend ? end.then(Mono.defer(engine.backend::close)) : end).cache();
    }

    @Override
    public ReactiveLock lock(String name) {
        return lock(LockKey.of(LockKind.MUTEX, name));
    }

    @Override
    public ReactiveReadWriteLock readWriteLock(String name) {
        require(LockFeature.READ_WRITE, "read/write locks");
        return new ReadWriteLock(lock(LockKey.of(LockKind.READ, name)), lock(LockKey.of(LockKind.WRITE, name)));
    }

    @Override
    public ReactiveLock semaphore(String name, int permits) {
        require(LockFeature.SEMAPHORE, "semaphores");
        return lock(new LockKey(LockKind.SEMAPHORE, name, permits));
    }

    @Override
    public Mono<Void> ping() {
        return Mono.defer(() -> engine.isClosed() ? Mono.error(new LockClosedException("")) : engine.backend.ping())
                .timeout(patience, timer)
                .onErrorMap(TimeoutException.class, this::pingTimedOut);
    }

    @Override
    public Mono<Void> close() {
        return closing;
    }

    private ReactiveLock lock(LockKey key) {
        return new DefaultReactiveLock(LockSettings.of(engine, key, defaults));
    }

    private void require(LockFeature feature, String what) {
        if (!engine.backend.features().contains(feature)) {
            throw new UnsupportedOperationException(
                    "back end %s has no %s, only %s".formatted(engine.backend.name(), what, engine.backend.features()));
        }
    }

    private Throwable pingTimedOut(Throwable timeout) {
        String message = "back end %s did not answer a ping within %d ms; is it reachable?"
                .formatted(engine.backend.name(), patience.toMillis());
        return new LockBackendException("", message, true, timeout);
    }

    @Override
    public String toString() {
        return "LockClient[" + engine + "]";
    }
}
