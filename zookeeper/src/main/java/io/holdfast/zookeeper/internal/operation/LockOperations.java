package io.holdfast.zookeeper.internal.operation;

import static io.holdfast.zookeeper.internal.client.BackendLog.LOG;

import io.holdfast.LockBackendException;
import io.holdfast.spi.Closing;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Printable;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.holdfast.zookeeper.internal.claim.ClaimRegistry;
import io.holdfast.zookeeper.internal.claim.ClaimState;
import io.holdfast.zookeeper.internal.claim.ReleasedClaims;
import io.holdfast.zookeeper.internal.client.AccessRights;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures.Subject;
import io.holdfast.zookeeper.internal.connection.SessionTracker;
import io.holdfast.zookeeper.internal.session.Session;
import io.holdfast.zookeeper.internal.signal.ClaimSignals;
import java.time.Duration;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
 * Takes the requests of a back end and works on them on its executor: one thread at a time, so that nothing in there needs a lock. What
 * waits for ZooKeeper is in flight and holds up nobody.
 */
public final class LockOperations {

    private static final Renewal NOT_HELD = new Renewal.NotHeld();

    private static final Duration BETWEEN_TRIES = Duration.ofMillis(50);

    /** What a user may choose. */
    public record Options(
            String root,
            AccessRights rights,
            boolean failFast,
            int maxWaiters,
            Duration closingTime,
            ReplaceableParts parts) {}

    private final Scheduler scheduler;
    private final SerialExecutor executor;
    private final Duration closingTime;
    private final ClaimSignals signals;
    private final AsyncZooKeeper zooKeeper;
    private final SessionTracker sessions;
    private final ClaimRegistry claims;
    private final QueueAdmission admission;
    private final ReleasedClaims releasedClaims = new ReleasedClaims();
    private final Closing closing;

    /** Written once, on the executor: from then on nothing new is taken in. */
    private boolean isClosing;

    /** Written once, on the executor; a watch reads it anywhere. */
    private volatile boolean isClosed;

    /**
     * Sends nothing yet.
     *
     * @param scheduler signals come there; gives the time
     * @param mayBlock opens sessions
     */
    public LockOperations(
            Supplier<? extends @Nullable CuratorFramework> clients,
            Options options,
            Scheduler scheduler,
            Scheduler mayBlock) {
        this.scheduler = scheduler;
        executor = new SerialExecutor(scheduler);
        closingTime = options.closingTime();
        signals = new ClaimSignals(scheduler);
        zooKeeper = new AsyncZooKeeper(executor, options.rights());
        claims = new ClaimRegistry(
                signals,
                zooKeeper,
                options.failFast(),
                this::withdrawOnceMore,
                executor,
                options.parts().queues());
        admission = new QueueAdmission(zooKeeper, options.maxWaiters());
        sessions = new SessionTracker(
                clients,
                options.root(),
                executor,
                mayBlock,
                zooKeeper,
                claims,
                options.parts().validities());
        closing = new Closing("the ZooKeeper back end", closeNow());
    }

    /** What comes of the others, where users may have it: see {@link SerialExecutor#outside}. */
    public <T> Mono<T> outside(Mono<T> answer) {
        return executor.outside(answer);
    }

    /** Answers outside of the executor. */
    public Mono<LockAttempt> acquire(LockClaim claim) {
        return ClaimRequest.mono(executor, subscriber -> new AcquireRequest(subscriber, claim));
    }

    /** Answers outside of the executor. */
    public Mono<Ownership> release(LockClaim claim) {
        return ClaimRequest.mono(executor, subscriber -> new ReleaseRequest(subscriber, claim));
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
            } else if (releasedClaims.contains(claim().id())) {
                answer(new LockAttempt.Contended(RecheckInterval.SHORTEST));
            } else {
                send();
            }
        }

        @Override
        Mono<LockAttempt> work(Session session) {
            return new AcquireOperation(claim(), state(), session, zooKeeper, claims, admission, executor).answer();
        }
    }

    private final class ReleaseRequest extends ClaimRequest<Ownership> {

        ReleaseRequest(CoreSubscriber<? super Ownership> subscriber, LockClaim claim) {
            super(subscriber, claim, executor, sessions, claims);
        }

        @Override
        String verb() {
            return "release";
        }

        @Override
        void start() {
            releasedClaims.add(claim().id(), executor.now());
            signals.forget(claim().id());
            enqueue(this);
        }

        @Override
        public void begin() {
            state().withdraw();
            owe();
            claims.giveUpOrphan(state(), sessions.connectedNow());
            if (state().hasNothingThere()) {
                claims.expectNothing(state());
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

    /** Nobody waits for it: the release that was asked for has failed. */
    private void withdrawOnceMore(ClaimState state) {
        Disposable unused = release(state.claim())
                .subscribe(
                        ownership -> LOG.debug("given up at last: {}", state),
                        error -> LOG.debug("not given up yet: {}", state, error));
    }

    private void enqueue(ClaimRequest<?> request) {
        if (isClosed) {
            request.fail(ZooKeeperFailures.closed(request.subject()));
        } else {
            request.takeTurn();
        }
    }

    public Mono<List<Renewal>> renew(List<LockClaim> batch) {
        return executor.defer(() -> renewNow(batch));
    }

    private Mono<List<Renewal>> renewNow(List<LockClaim> batch) {
        Map<String, ClaimState> held = new LinkedHashMap<>();
        for (LockClaim claim : batch) {
            ClaimState state = claims.find(claim.id());
            if (state != null && state.isHeld() && !state.isWithdrawn()) {
                held.put(state.knownPath(), state);
            }
        }
        if (held.isEmpty()) {
            return Mono.just(batch.stream().map(this::notHeld).toList());
        }
        Subject subject = batch.size() == 1
                ? Subject.of("renew", batch.get(0).key().name())
                : new Subject("", "renew %d locks".formatted(batch.size()));
        return sessions.current(subject)
                .flatMap(session -> new NodeCheck(session, zooKeeper, subject)
                        .areThere(List.copyOf(held.keySet()))
                        .flatMap(answers -> renewals(batch, session, held, answers, subject)));
    }

    private Mono<List<Renewal>> renewals(
            List<LockClaim> batch,
            Session session,
            Map<String, ClaimState> asked,
            List<Boolean> answers,
            Subject subject) {
        Set<String> there = new HashSet<>();
        Iterator<Boolean> isThere = answers.iterator();
        for (Map.Entry<String, ClaimState> entry : asked.entrySet()) {
            ClaimState state = entry.getValue();
            boolean isStillIts = state.isIn(session) && state.knownPath().equals(entry.getKey());
            if (isThere.next() && isStillIts) {
                there.add(state.id());
            } else if (isStillIts) {
                claims.gone(state);
            }
        }
        if (!there.isEmpty() && !session.validity().isLease()) {
            return Mono.error(ZooKeeperFailures.notProven(subject, session));
        }
        Renewal held = new Renewal.Held(session.validity().lease());
        return Mono.just(batch.stream()
                .map(claim -> there.contains(claim.id()) ? held : notHeld(claim))
                .toList());
    }

    /** Whoever watches it has been told that it ended with its session, which says more than that it is not held: nothing is added. */
    private Renewal notHeld(LockClaim claim) {
        ClaimState state = claims.find(claim.id());
        boolean endedWithItsSession = state != null && state.isOrphaned();
        return endedWithItsSession && signals.isWatched(claim.id())
                ? new Renewal.Unknown(ZooKeeperFailures.noSession(
                        Subject.of("renew", claim.key().name())))
                : NOT_HELD;
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
                .flatMap(session -> zooKeeper.sync(session, Session.WATCHED_NODE))
                .flatMap(synced ->
                        synced.isOk() ? Mono.<Void>empty() : Mono.error(ZooKeeperFailures.of(subject, synced))));
    }

    public Mono<Void> close() {
        return closing.begin();
    }

    private Mono<Void> closeNow() {
        return executor.defer(this::giveUpAll).then(executor.defer(() -> Mono.fromRunnable(this::stop)));
    }

    /** The session goes on, so the servers would not end any of it. */
    private Mono<Void> giveUpAll() {
        isClosing = true;
        return Flux.fromIterable(claims.all())
                .flatMap(this::giveUp, Integer.MAX_VALUE)
                .then();
    }

    /** Again and again, since the connection may be lost for a moment. */
    private Mono<Ownership> giveUp(ClaimState state) {
        Mono<Ownership> given = release(state.claim())
                .retryWhen(Retry.fixedDelay(Long.MAX_VALUE, BETWEEN_TRIES)
                        .filter(error -> error instanceof LockBackendException failure && failure.isTransient())
                        .scheduler(scheduler));
        return given.timeout(closingTime, scheduler).onErrorResume(error -> {
            LOG.warn("{} may stay until its session ends: {}", state, Printable.text(error.toString()));
            return Mono.empty();
        });
    }

    private void stop() {
        isClosed = true;
        sessions.close();
        signals.fail(ZooKeeperFailures.closed(new Subject("", "watch")));
    }

    public Mono<List<String>> contents() {
        return executor.defer(() -> Mono.just(claims.contents()));
    }

    public int watchCount() {
        return signals.count();
    }
}
