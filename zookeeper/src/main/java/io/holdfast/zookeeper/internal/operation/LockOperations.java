package io.holdfast.zookeeper.internal.operation;

import static io.holdfast.zookeeper.internal.client.BackendLog.LOG;

import io.holdfast.LockBackendException;
import io.holdfast.LockHolder;
import io.holdfast.LockKind;
import io.holdfast.LockReport;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.Closing;
import io.holdfast.spi.support.Fallible;
import io.holdfast.spi.support.Printable;
import io.holdfast.spi.support.RecentClaims;
import io.holdfast.zookeeper.internal.claim.ClaimRegistry;
import io.holdfast.zookeeper.internal.claim.ClaimState;
import io.holdfast.zookeeper.internal.claim.SessionReactions;
import io.holdfast.zookeeper.internal.client.AccessRights;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures.Subject;
import io.holdfast.zookeeper.internal.connection.SessionTracker;
import io.holdfast.zookeeper.internal.inspect.QueueInspection;
import io.holdfast.zookeeper.internal.session.Session;
import io.holdfast.zookeeper.internal.signal.ClaimSignals;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.curator.framework.CuratorFramework;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.util.retry.Retry;

/**
 * The operations of one back end. They run on its executor, one thread at a time, so their state needs no lock. An operation that waits for
 * an answer of ZooKeeper does not occupy the executor.
 */
public final class LockOperations {

    private static final Duration BETWEEN_TRIES = Duration.ofMillis(50);

    /** The settings that a user may choose. */
    public record Options(
            String root,
            AccessRights rights,
            boolean failFast,
            int maxWaiters,
            Duration closingTime,
            ReplaceableParts parts) {}

    private final SerialExecutor executor;
    private final ClaimSignals signals;
    private final AsyncZooKeeper zooKeeper;
    private final SessionTracker sessions;
    private final ClaimRegistry claims;
    private final QueueAdmission admission;

    /** A late attempt of such a claim takes nothing. All operations of one claim use the same back end, so this needs no node. */
    private final RecentClaims<Boolean> releasedClaims = new RecentClaims<>(10_000);

    private final RenewOperation renewing;
    private final Duration closingTime;
    private final Scheduler scheduler;
    private final Closing closing;

    /** Written once, on the executor. From then on, the back end accepts no new claims. */
    private boolean isClosing;

    /** Written once, on the executor; a watch reads it on any thread. */
    private volatile boolean isClosed;

    /**
     * Sends nothing yet.
     *
     * @param scheduler emits the signals, and is the clock
     * @param mayBlock opens sessions
     */
    public LockOperations(
            Supplier<? extends @Nullable CuratorFramework> clients,
            Options options,
            Scheduler scheduler,
            Scheduler mayBlock) {
        executor = new SerialExecutor(scheduler);
        signals = new ClaimSignals(scheduler);
        zooKeeper = new AsyncZooKeeper(executor, options.rights());
        claims = new ClaimRegistry(signals, zooKeeper, executor, options.parts().queues());
        admission = new QueueAdmission(zooKeeper, options.maxWaiters());
        sessions = new SessionTracker(
                clients,
                options.root(),
                executor,
                mayBlock,
                zooKeeper,
                new SessionReactions(claims, signals, zooKeeper, options.failFast(), this::releaseOnceMore),
                options.parts().validities());
        renewing = new RenewOperation(claims, sessions, zooKeeper, signals);
        closingTime = options.closingTime();
        this.scheduler = scheduler;
        closing = new Closing("the ZooKeeper back end", closeNow());
    }

    /** Emits the answer of an internal call on the threads for users: see {@link SerialExecutor#outside}. */
    public <T> Mono<T> outside(Mono<T> answer) {
        return executor.outside(answer);
    }

    /** Emits the answer outside of the executor. */
    public Mono<LockAttempt> acquire(LockClaim claim) {
        return ClaimRequest.mono(executor, subscriber -> new AcquireRequest(subscriber, claim));
    }

    /** Emits the answer outside of the executor. */
    public Mono<Ownership> release(LockClaim claim) {
        return ClaimRequest.mono(executor, subscriber -> new ReleaseRequest(subscriber, claim, false));
    }

    private final class AcquireRequest extends ClaimRequest<LockAttempt> {

        private final long askedNanos = executor.now();

        AcquireRequest(CoreSubscriber<? super LockAttempt> subscriber, LockClaim claim) {
            super(subscriber, claim, executor, sessions, claims);
        }

        @Override
        String verb() {
            return "acquire";
        }

        @Override
        void start() {
            enqueue(this);
        }

        @Override
        public void begin() {
            state().asked(claim().attempt(), askedNanos);
            if (isClosing) {
                fail(ZooKeeperFailures.closed(subject()));
            } else if (isReleased()) {
                answer(new LockAttempt.Contended(RecheckInterval.SHORTEST));
            } else {
                send();
            }
        }

        private boolean isReleased() {
            return releasedClaims.contains(claim().id());
        }

        @Override
        Mono<LockAttempt> work(Session session) {
            return new AcquireOperation(
                            claim(), state(), session, zooKeeper, claims, admission, executor, this::isReleased)
                    .answer();
        }
    }

    private final class ReleaseRequest extends ClaimRequest<Ownership> {

        private final boolean isOnceMore;

        ReleaseRequest(CoreSubscriber<? super Ownership> subscriber, LockClaim claim, boolean isOnceMore) {
            super(subscriber, claim, executor, sessions, claims);
            this.isOnceMore = isOnceMore;
        }

        @Override
        boolean isForClosing() {
            return isOnceMore;
        }

        @Override
        String verb() {
            return "release";
        }

        @Override
        void start() {
            releasedClaims.add(claim().id(), true);
            signals.forget(claim().id());
            enqueue(this);
        }

        @Override
        public void begin() {
            state().withdraw();
            owe();
            claims.giveUpOrphan(state(), sessions.connectedNow());
            if (state().hasNothingThere()) {
                answer(Ownership.NOT_HELD);
            } else {
                send();
            }
        }

        @Override
        Mono<Ownership> work(Session session) {
            return new ReleaseOperation(state(), session, zooKeeper, claims).answer();
        }
    }

    /** The release of the subscriber has failed. This second release has no subscriber. */
    private void releaseOnceMore(ClaimState state) {
        Disposable unused = ClaimRequest.<Ownership>mono(
                        executor, subscriber -> new ReleaseRequest(subscriber, state.claim(), true))
                .subscribe(
                        ownership -> LOG.debug("released at last: {}", state),
                        error -> LOG.debug("not released yet: {}", state, error));
    }

    private void enqueue(ClaimRequest<?> request) {
        if (isClosed && !request.isForClosing()) {
            request.fail(ZooKeeperFailures.closed(request.subject()));
        } else {
            request.takeTurn();
        }
    }

    public Mono<List<Renewal>> renew(List<LockClaim> batch) {
        return executor.defer(() -> renewing.renew(batch));
    }

    public Flux<WatchSignal> watch(LockClaim claim) {
        return Flux.defer(() -> isClosed
                ? Flux.error(
                        ZooKeeperFailures.closed(Subject.of("watch", claim.key().name())))
                : signals.of(claim.id()));
    }

    public Mono<Void> ping() {
        Subject subject = new Subject("", "ping");
        return executor.defer(() -> sessions.current(subject)
                .flatMap(session -> Mono.zip(zooKeeper.sync(session, Session.TOP), zooKeeper.stat(session, Session.TOP))
                        .flatMap(both -> {
                            if (!both.getT1().isOk()) {
                                return Mono.<Void>error(ZooKeeperFailures.of(subject, both.getT1()));
                            }
                            return both.getT2().isNoNode()
                                    ? Mono.error(ZooKeeperFailures.noChroot(subject, session))
                                    : Mono.empty();
                        })));
    }

    /** Emits outside of the executor. */
    public Flux<LockHolder> holders(LockKey key) {
        return inspect(
                        Subject.of("list the holders of", key.name()),
                        queues -> queues.holders(key).collectList())
                .flatMapIterable(holders -> holders);
    }

    /** Emits outside of the executor. */
    public Mono<LockReport> report(LockKey key) {
        return inspect(Subject.of("inspect", key.name()), queues -> queues.report(key));
    }

    /** Emits outside of the executor. */
    public Mono<List<String>> names(LockKind kind) {
        return inspect(new Subject("", "inspect the locks"), queues -> queues.names(kind));
    }

    /** Emits outside of the executor. */
    public Mono<Boolean> breakHold(LockKey key, String claimId) {
        return inspect(Subject.of("break", key.name()), queues -> queues.breakHold(key, claimId));
    }

    private <T> Mono<T> inspect(Subject subject, Function<QueueInspection, Mono<T>> question) {
        return outside(executor.defer(() -> isClosing
                ? Mono.error(ZooKeeperFailures.closed(subject))
                : sessions.current(subject)
                        .map(session -> new QueueInspection(zooKeeper, session, subject))
                        .flatMap(question)));
    }

    public Mono<Void> close() {
        return closing.begin();
    }

    private Mono<Void> closeNow() {
        return executor.defer(this::releaseAll).then(executor.defer(() -> Mono.fromRunnable(this::stop)));
    }

    private Mono<Void> releaseAll() {
        isClosing = true;
        return Flux.fromIterable(claims.all())
                .flatMap(this::releaseInTime, Integer.MAX_VALUE)
                .then();
    }

    /** Retries until the limit, since the connection may be lost for a moment. */
    private Mono<Ownership> releaseInTime(ClaimState state) {
        return release(state.claim())
                .retryWhen(Retry.fixedDelay(Long.MAX_VALUE, BETWEEN_TRIES)
                        .filter(error -> error instanceof LockBackendException failure && failure.isTransient())
                        .scheduler(scheduler))
                .timeout(closingTime, scheduler)
                .onErrorResume(error -> {
                    Fallible.tell(() -> LOG.warn(
                            "{} could not be deleted in time; it is deleted when a server is reached again, or with its session: {}",
                            state,
                            Printable.text(error.toString())));
                    return Mono.empty();
                });
    }

    /** The session may last long. So claims that could not be released in time are released when a server is reached again. */
    private void stop() {
        isClosed = true;
        signals.fail(ZooKeeperFailures.closed(new Subject("", "watch")));
        claims.whenEmpty(sessions::close);
    }

    public Mono<List<String>> contents() {
        return executor.defer(() -> Mono.just(claims.contents()));
    }

    public int watchCount() {
        return signals.count();
    }
}
