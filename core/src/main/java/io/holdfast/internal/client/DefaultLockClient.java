package io.holdfast.internal.client;

import static java.util.Objects.requireNonNull;

import io.holdfast.ClientReport;
import io.holdfast.LeaderElection;
import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.ReactiveMultiLock;
import io.holdfast.ReactiveReadWriteLock;
import io.holdfast.ReactiveSemaphore;
import io.holdfast.internal.claim.Adoption;
import io.holdfast.internal.engine.BackendCall;
import io.holdfast.internal.engine.Engine;
import io.holdfast.internal.engine.LockSettings;
import io.holdfast.internal.engine.LockTerms;
import io.holdfast.internal.multi.MultiLockSettings;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.support.Closing;
import io.holdfast.spi.support.Printable;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Stream;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** Makes locks, and closes what they have started. Public only because the API's package uses it. */
public final class DefaultLockClient implements LockClient {

    private record ReadWriteLock(ReactiveLock readLock, ReactiveLock writeLock) implements ReactiveReadWriteLock {}

    private static final Duration LONGEST_BACKEND_CLOSING = Duration.ofSeconds(5);

    /** To load a driver and open a connection may take seconds on a busy machine. */
    private static final Duration FIRST_PING = Duration.ofSeconds(10);

    private final Engine engine;
    private final LockTerms defaults;
    private final Duration patience;
    private final Scheduler timer;
    private final Closing closing;

    /** Whether the back end has answered a ping. Written by the answering threads. */
    private volatile boolean hasAnswered;

    public DefaultLockClient(Engine engine, LockOptions defaults, Scheduler timer, boolean closeBackend) {
        this.engine = engine;
        this.defaults = LockTerms.of(engine, defaults);
        this.timer = timer;
        patience = Duration.ofNanos(this.defaults.operationNanos());
        Mono<Void> released = Mono.defer(() -> engine.shutDown().asMono())
                .timeout(patience, Mono.empty(), timer)
                .onErrorResume(RejectedExecutionException.class, disposed -> Mono.empty())
                .then(Mono.fromRunnable(engine::abandonRest));
        closing = new Closing("the lock client", closeBackend ? released.then(backendClosed()) : released);
    }

    @Override
    public ReactiveLock lock(String name) {
        return lock(LockKey.of(LockKind.MUTEX, name));
    }

    @Override
    public ReactiveReadWriteLock readWriteLock(String name) {
        engine.require(LockKind.READ);
        return new ReadWriteLock(lock(LockKey.of(LockKind.READ, name)), lock(LockKey.of(LockKind.WRITE, name)));
    }

    @Override
    public ReactiveSemaphore semaphore(String name, int permits) {
        engine.require(LockKind.SEMAPHORE);
        return new DefaultReactiveSemaphore(settings(new LockKey(LockKind.SEMAPHORE, name, permits)));
    }

    @Override
    public ReactiveMultiLock all(ReactiveLock... locks) {
        return new DefaultMultiLock(MultiLockSettings.of(
                Stream.of(requireNonNull(locks, "locks")).map(this::ownSettings).toList()));
    }

    @Override
    public Mono<LockLease> adopt(String exported) {
        return Adoption.of(engine, defaults.options(), requireNonNull(exported, "exported"));
    }

    @Override
    public LeaderElection election(String name) {
        return new DefaultLeaderElection(settings(LockKey.of(LockKind.MUTEX, name)));
    }

    private LockSettings ownSettings(ReactiveLock lock) {
        if (requireNonNull(lock, "lock") instanceof DefaultReactiveLock own && own.settings.engine() == engine) {
            return own.settings;
        }
        throw new IllegalArgumentException(
                "lock '%s' is not of this client: only locks of one client can be taken together"
                        .formatted(Printable.text(lock.name())));
    }

    @Override
    public ClientReport report() {
        return engine.report();
    }

    @Override
    public Mono<Void> ping() {
        return Mono.defer(() -> BackendCall.mono(engine, "", "ping", pingLimit().toNanos(), this::pong))
                .then();
    }

    private Mono<Boolean> pong() {
        return engine.backend.ping().thenReturn(true).doOnNext(answered -> hasAnswered = true);
    }

    private Duration pingLimit() {
        return hasAnswered || patience.compareTo(FIRST_PING) > 0 ? patience : FIRST_PING;
    }

    @Override
    public Mono<Void> drain() {
        return engine.drain();
    }

    @Override
    public Mono<Void> close() {
        return closing.begin();
    }

    /** A back end whose closing takes too long goes on in the background, as it does when the timer is disposed. */
    private Mono<Void> backendClosed() {
        return Mono.defer(() -> engine.backend
                .close()
                .timeout(LONGEST_BACKEND_CLOSING, Mono.empty(), timer)
                .onErrorResume(RejectedExecutionException.class, disposed -> Mono.empty()));
    }

    private ReactiveLock lock(LockKey key) {
        return new DefaultReactiveLock(settings(key));
    }

    private LockSettings settings(LockKey key) {
        return new LockSettings(engine, key, 1, defaults);
    }

    @Override
    public String toString() {
        return "LockClient[" + engine + "]";
    }
}
