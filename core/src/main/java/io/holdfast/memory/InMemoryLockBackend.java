package io.holdfast.memory;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockBackendException;
import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockKind;
import io.holdfast.LockReport;
import io.holdfast.internal.memory.LockTable;
import io.holdfast.internal.memory.Outcome;
import io.holdfast.internal.memory.Push;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockRun;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.SignalSink;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Keeps locks in the memory of this JVM: for one process, for development, and for your own tests. It is a full back
 * end, with queues in order of arrival, read/write locks, semaphores and fencing tokens. Its locks neither reach beyond
 * this JVM nor survive it.
 *
 * <pre>{@code
 * LockClient locks = LockClient.create(InMemoryLockBackend.create());
 * }</pre>
 *
 * <p>Each instance keeps locks of its own. Tokens rise over all locks of one instance. A request removes expired claims.
 * A timer runs only while grants are pushed to waiters: a grant that its client does not confirm ends after 2 s. The
 * other claims of that client are passed over until it sends a request. Claims with the same owner's label count as
 * those of one client. It keeps nothing for a lock without holders and waiters. The first request after the end of the
 * last lease may be needed to remove it.
 *
 * <p>It answers requests on the subscribing thread. Signals of {@link #watch} arrive on the clock's scheduler, but the
 * first one, {@code Armed}, on the subscribing thread. A subscriber may cause a signal while it handles another one.
 * That signal arrives on the same thread when the subscriber has returned; if that takes long, after about a
 * millisecond, on another thread of the scheduler. Thread-safe; no call waits for anything but a short critical
 * section.
 */
public final class InMemoryLockBackend implements LockBackend {

    private static final Logger LOG = LoggerFactory.getLogger(InMemoryLockBackend.class);

    private static final Set<LockFeature> FEATURES = Set.copyOf(List.of(LockFeature.values()));

    private final Object monitor = new Object();
    private final Consumer<SignalSink> onClose = this::close;
    private final Scheduler clock;
    private final InMemoryWatches watches;
    private final LockTable locks;

    /** Written once, under the monitor. */
    private boolean closed;

    /** When a grant was last pushed, and whether a task examines the grants after it. Written under the monitor. */
    private long lastPushNanos;

    private boolean isExamining;

    private InMemoryLockBackend(Scheduler clock) {
        this.clock = clock;
        this.watches = new InMemoryWatches(clock);
        this.locks = new LockTable(watches::isWatched, now());
    }

    /** {@return an empty back end on the JVM's monotonic clock, which delivers signals on {@link Schedulers#parallel()}} */
    public static InMemoryLockBackend create() {
        return create(Schedulers.parallel());
    }

    /**
     * {@return an empty back end on a clock of your choice, such as virtual time in a test}
     *
     * @param clock its {@code now(NANOSECONDS)} is the time of the back end, and its threads deliver the signals of
     *     {@link #watch}; the caller disposes it
     */
    public static InMemoryLockBackend create(Scheduler clock) {
        return new InMemoryLockBackend(requireNonNull(clock, "clock"));
    }

    @Override
    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
        return request("acquire", claim, now -> locks.tryAcquire(claim, now));
    }

    @Override
    public Mono<Renewal> renew(LockClaim claim) {
        return request("renew", claim, now -> locks.renew(claim, now));
    }

    @Override
    public Mono<Renewal> adopt(LockClaim claim, long fencingToken) {
        return request("adopt", claim, now -> locks.adopt(claim, fencingToken, now));
    }

    @Override
    public Mono<Ownership> release(LockClaim claim) {
        return request("release", claim, now -> locks.release(claim, now));
    }

    @Override
    public Mono<LockRun.End> endRun(LockClaim claim, long number, int served) {
        return request("end a run of", claim, now -> locks.endRun(claim, number, served, now));
    }

    /**
     * {@inheritDoc}
     *
     * <p>Signals wait for demand without a limit. Fails when the back end is closed.
     */
    @Override
    public Flux<WatchSignal> watch(LockClaim claim) {
        requireNonNull(claim, "claim");
        return new Flux<>() {
            @Override
            public void subscribe(CoreSubscriber<? super WatchSignal> subscriber) {
                open(claim, subscriber);
            }
        };
    }

    @Override
    public Flux<LockHolder> holders(LockKey key) {
        requireNonNull(key, "key");
        return read("ask for the holders of", key.name(), now -> locks.holders(key, now))
                .flatMapIterable(holders -> holders);
    }

    @Override
    public Mono<Void> ping() {
        return read("ping", "", now -> now).then();
    }

    /** {@return every {@link LockFeature}} */
    @Override
    public Set<LockFeature> features() {
        return FEATURES;
    }

    @Override
    public String name() {
        return "memory";
    }

    /**
     * Removes all locks and ends all watches with an error. Later requests fail with {@link LockBackendException}.
     *
     * @return empty: the back end is closed when the call returns. Idempotent
     */
    @Override
    public Mono<Void> close() {
        List<SignalSink> ended;
        synchronized (monitor) {
            closed = true;
            locks.clear();
            ended = watches.clear();
        }
        ended.forEach(watch -> watch.fail(closedError("go on watching", "")));
        return Mono.empty();
    }

    /**
     * {@return an inspector of the locks of this back end, which fails once the back end is closed} A holder whose lock
     * is broken gets the signal at once. The inspector needs no closing.
     */
    public LockInspector inspector() {
        return new Inspector();
    }

    private final class Inspector implements LockInspector {

        @Override
        public Flux<LockReport> inspect(String name) {
            String checked = LockKey.of(LockKind.MUTEX, name).name();
            return read("inspect", checked, now -> locks.reports(checked, now)).flatMapIterable(reports -> reports);
        }

        @Override
        public Flux<LockReport> all() {
            return read("inspect the locks", "", locks::reports).flatMapIterable(reports -> reports);
        }

        @Override
        public Mono<Boolean> breakHold(String lockName, LockHolder holder) {
            LockKey key = LockKey.of(holder.kind(), lockName);
            return Mono.fromCallable(
                            () -> request("break", lockName, now -> locks.breakHold(key, holder.claimId(), now)))
                    .map(answer -> answer == Ownership.HELD);
        }

        @Override
        public Mono<Void> close() {
            return Mono.empty();
        }
    }

    private <T> Mono<T> read(String verb, String lockName, LongFunction<T> reading) {
        return Mono.fromCallable(() -> {
            synchronized (monitor) {
                failIfClosed(verb, lockName);
                return reading.apply(now());
            }
        });
    }

    /**
     * Describes the present contents: a line per claim that holds, waits or wants a signal, and per watch. For tests,
     * which should find nothing at their end, and for diagnosis; the text may change. It leaves out withdrawn claims,
     * which the back end remembers for a few seconds so that a late attempt of theirs cannot take the lock.
     *
     * @return an immutable snapshot
     */
    public List<String> contents() {
        synchronized (monitor) {
            List<String> lines = new ArrayList<>(locks.contents(now()));
            lines.addAll(watches.contents());
            return List.copyOf(lines);
        }
    }

    /** Counts the claims that requests have examined so far, for tests. */
    long examined() {
        synchronized (monitor) {
            return locks.examined();
        }
    }

    @Override
    public String toString() {
        synchronized (monitor) {
            return "InMemoryLockBackend[%s%d kept, %d withdrawn]"
                    .formatted(closed ? "closed, " : "", contents().size(), locks.tombstones(now()));
        }
    }

    private long now() {
        return clock.now(TimeUnit.NANOSECONDS);
    }

    private <A> Mono<A> request(String verb, LockClaim claim, LongFunction<Outcome<A>> decision) {
        requireNonNull(claim, "claim");
        return Mono.fromCallable(() -> request(verb, claim.key().name(), decision));
    }

    /** Decides inside the monitor, and signals outside of it: a subscriber may do anything. */
    private <A> A request(String verb, String lockName, LongFunction<Outcome<A>> decision) {
        Outcome<A> outcome;
        List<SignalSink> signalled;
        synchronized (monitor) {
            failIfClosed(verb, lockName);
            outcome = decision.apply(now());
            signalled = enqueue(outcome.pushes());
        }
        signalled.forEach(watches::deliver);
        return outcome.answer();
    }

    private List<SignalSink> enqueue(List<Push> pushes) {
        if (!pushes.isEmpty()) {
            lastPushNanos = now();
            examineLater();
        }
        return watches.enqueue(pushes);
    }

    private void examineLater() {
        if (isExamining) {
            return;
        }
        try {
            Disposable unused = clock.schedule(this::examine, LockTable.CLAIM_NANOS, TimeUnit.NANOSECONDS);
            isExamining = true;
        } catch (RejectedExecutionException disposed) {
            LOG.debug("the clock is disposed: a grant that is not confirmed ends with the next request", disposed);
        }
    }

    /** Serves the waiters behind a grant that was not confirmed. */
    private void examine() {
        List<SignalSink> signalled;
        synchronized (monitor) {
            isExamining = false;
            if (closed) {
                return;
            }
            long now = now();
            if (now - lastPushNanos < LockTable.CLAIM_NANOS) {
                examineLater();
            }
            signalled = enqueue(locks.serveAfterExpiries(now));
        }
        signalled.forEach(watches::deliver);
    }

    private void open(LockClaim claim, CoreSubscriber<? super WatchSignal> subscriber) {
        SignalSink watch = new SignalSink(claim.id(), subscriber, onClose);
        try {
            synchronized (monitor) {
                failIfClosed("watch", claim.key().name());
                watches.open(watch);
                locks.watched(claim);
            }
        } catch (LockBackendException closedBefore) {
            Operators.error(subscriber, closedBefore);
            return;
        }
        watch.handOver();
    }

    private void close(SignalSink watch) {
        synchronized (monitor) {
            watches.close(watch);
        }
    }

    private void failIfClosed(String verb, String lockName) {
        if (closed) {
            throw closedError(verb, lockName);
        }
    }

    private static LockBackendException closedError(String verb, String lockName) {
        String what = lockName.isEmpty() ? verb : "%s lock '%s'".formatted(verb, lockName);
        return new LockBackendException(
                lockName, "cannot %s: the in-memory back end is closed; create a new one".formatted(what), false, null);
    }
}
