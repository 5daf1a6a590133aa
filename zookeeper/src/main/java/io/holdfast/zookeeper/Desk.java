package io.holdfast.zookeeper;

import io.holdfast.LockBackendException;
import io.holdfast.spi.Closing;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Printable;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.holdfast.zookeeper.ZooKeeperFailures.Subject;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.util.retry.Retry;

/**
 * Takes the requests of a back end and works on them on its strand: one thread at a time, so that nothing in there needs a lock. What
 * waits for ZooKeeper is in flight and holds up nobody.
 */
final class Desk {

    private static final Logger LOG = LoggerFactory.getLogger(ZooKeeperLockBackend.class);

    private static final Renewal NOT_HELD = new Renewal.NotHeld();

    private static final Duration BETWEEN_TRIES = Duration.ofMillis(50);

    /** What a user may choose. */
    record Options(
            String root, AccessRights rights, boolean failFast, int maxWaiters, Duration closingTime, Parts parts) {}

    private final Scheduler scheduler;
    private final Strand strand;
    private final Duration closingTime;
    private final Signals signals;
    private final Tree tree;
    private final Sessions sessions;
    private final Places places;
    private final Gates gates;
    private final Tombstones tombstones = new Tombstones();
    private final Closing closing;

    /** Written once, on the strand: from then on nothing new is taken in. */
    private boolean isClosing;

    /** Written once, on the strand; a watch reads it anywhere. */
    private volatile boolean isClosed;

    /**
     * Sends nothing yet.
     *
     * @param scheduler signals come there; gives the time
     * @param mayBlock opens sessions
     */
    Desk(
            Supplier<? extends @Nullable CuratorFramework> clients,
            Options options,
            Scheduler scheduler,
            Scheduler mayBlock) {
        this.scheduler = scheduler;
        strand = new Strand(scheduler);
        closingTime = options.closingTime();
        signals = new Signals(scheduler);
        tree = new Tree(strand, options.rights());
        places = new Places(
                signals,
                tree,
                options.failFast(),
                this::withdrawOnceMore,
                strand,
                options.parts().queues());
        gates = new Gates(tree, options.maxWaiters());
        sessions = new Sessions(
                clients,
                options.root(),
                strand,
                mayBlock,
                tree,
                places,
                options.parts().proofs());
        closing = new Closing("the ZooKeeper back end", closeNow());
    }

    /** What comes of the others, where users may have it: see {@link Strand#outside}. */
    <T> Mono<T> outside(Mono<T> answer) {
        return strand.outside(answer);
    }

    /** Answers outside of the strand. */
    Mono<LockAttempt> look(LockClaim claim) {
        return Request.mono(strand, subscriber -> new Looking(subscriber, claim));
    }

    /** Answers outside of the strand. */
    Mono<Ownership> release(LockClaim claim) {
        return Request.mono(strand, subscriber -> new Releasing(subscriber, claim));
    }

    private final class Looking extends Request<LockAttempt> {

        private final long askedNanos = strand.now();

        Looking(CoreSubscriber<? super LockAttempt> subscriber, LockClaim claim) {
            super(subscriber, claim, strand, sessions, places);
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
            place().asked(claim().attempt(), askedNanos);
            if (isClosing) {
                fail(ZooKeeperFailures.closed(subject()));
            } else if (tombstones.contains(claim().id())) {
                answer(new LockAttempt.Contended(SafetyNet.SHORTEST));
            } else {
                send();
            }
        }

        @Override
        Mono<LockAttempt> work(Session session) {
            return new Look(claim(), place(), session, tree, places, gates, strand).answer();
        }
    }

    private final class Releasing extends Request<Ownership> {

        Releasing(CoreSubscriber<? super Ownership> subscriber, LockClaim claim) {
            super(subscriber, claim, strand, sessions, places);
        }

        @Override
        String verb() {
            return "release";
        }

        @Override
        void start() {
            tombstones.add(claim().id(), strand.now());
            signals.forget(claim().id());
            enqueue(this);
        }

        @Override
        public void begin() {
            place().withdraw();
            owe();
            places.giveUpOrphan(place(), sessions.connectedNow());
            if (place().hasNothingThere()) {
                places.expectNothing(place());
                answer(Ownership.NOT_HELD);
            } else {
                send();
            }
        }

        @Override
        Mono<Ownership> work(Session session) {
            return new Withdrawal(place(), session, tree, places).answer();
        }
    }

    /** Nobody waits for it: the release that was asked for has failed. */
    private void withdrawOnceMore(Place place) {
        Disposable unused = release(place.claim())
                .subscribe(
                        ownership -> LOG.debug("given up at last: {}", place),
                        error -> LOG.debug("not given up yet: {}", place, error));
    }

    private void enqueue(Request<?> request) {
        if (isClosed) {
            request.fail(ZooKeeperFailures.closed(request.subject()));
        } else {
            request.takeTurn();
        }
    }

    Mono<List<Renewal>> renew(List<LockClaim> claims) {
        return strand.defer(() -> renewNow(claims));
    }

    private Mono<List<Renewal>> renewNow(List<LockClaim> claims) {
        Map<String, Place> held = new LinkedHashMap<>();
        for (LockClaim claim : claims) {
            Place place = places.find(claim.id());
            if (place != null && place.isHeld() && !place.isWithdrawn()) {
                held.put(place.knownPath(), place);
            }
        }
        if (held.isEmpty()) {
            return Mono.just(claims.stream().map(this::notHeld).toList());
        }
        Subject subject = claims.size() == 1
                ? Subject.of("renew", claims.get(0).key().name())
                : new Subject("", "renew %d locks".formatted(claims.size()));
        return sessions.current(subject)
                .flatMap(session -> new Renewals(session, tree, subject)
                        .areThere(List.copyOf(held.keySet()))
                        .flatMap(answers -> renewals(claims, session, held, answers, subject)));
    }

    private Mono<List<Renewal>> renewals(
            List<LockClaim> claims, Session session, Map<String, Place> asked, List<Boolean> answers, Subject subject) {
        Set<String> there = new HashSet<>();
        Iterator<Boolean> isThere = answers.iterator();
        for (Map.Entry<String, Place> entry : asked.entrySet()) {
            Place place = entry.getValue();
            boolean isStillIts = place.isIn(session) && place.knownPath().equals(entry.getKey());
            if (isThere.next() && isStillIts) {
                there.add(place.id());
            } else if (isStillIts) {
                places.gone(place);
            }
        }
        if (!there.isEmpty() && !session.proof().isLease()) {
            return Mono.error(ZooKeeperFailures.notProven(subject, session));
        }
        Renewal held = new Renewal.Held(session.proof().lease());
        return Mono.just(claims.stream()
                .map(claim -> there.contains(claim.id()) ? held : notHeld(claim))
                .toList());
    }

    /** Whoever watches it has been told that it ended with its session, which says more than that it is not held: nothing is added. */
    private Renewal notHeld(LockClaim claim) {
        Place place = places.find(claim.id());
        boolean endedWithItsSession = place != null && place.isOrphaned();
        return endedWithItsSession && signals.isWatched(claim.id())
                ? new Renewal.Unknown(ZooKeeperFailures.noSession(
                        Subject.of("renew", claim.key().name())))
                : NOT_HELD;
    }

    Flux<WatchSignal> watch(LockClaim claim) {
        return Flux.defer(() -> isClosed
                ? Flux.error(
                        ZooKeeperFailures.closed(Subject.of("watch", claim.key().name())))
                : signals.of(claim.id()));
    }

    Mono<Void> ping() {
        Subject subject = new Subject("", "ping");
        return strand.defer(() -> sessions.current(subject)
                .flatMap(session -> tree.sync(session, Session.EAR))
                .flatMap(synced ->
                        synced.isOk() ? Mono.<Void>empty() : Mono.error(ZooKeeperFailures.of(subject, synced))));
    }

    Mono<Void> close() {
        return closing.begin();
    }

    private Mono<Void> closeNow() {
        return strand.defer(this::giveUpAll).then(strand.defer(() -> Mono.fromRunnable(this::stop)));
    }

    /** The session goes on, so the servers would not end any of it. */
    private Mono<Void> giveUpAll() {
        isClosing = true;
        return Flux.fromIterable(places.all())
                .flatMap(this::giveUp, Integer.MAX_VALUE)
                .then();
    }

    /** Again and again, since the connection may be lost for a moment. */
    private Mono<Ownership> giveUp(Place place) {
        Mono<Ownership> given = release(place.claim())
                .retryWhen(Retry.fixedDelay(Long.MAX_VALUE, BETWEEN_TRIES)
                        .filter(error -> error instanceof LockBackendException failure && failure.isTransient())
                        .scheduler(scheduler));
        return given.timeout(closingTime, scheduler).onErrorResume(error -> {
            LOG.warn("{} may stay until its session ends: {}", place, Printable.text(error.toString()));
            return Mono.empty();
        });
    }

    private void stop() {
        isClosed = true;
        sessions.close();
        signals.fail(ZooKeeperFailures.closed(new Subject("", "watch")));
    }

    Mono<List<String>> contents() {
        return strand.defer(() -> Mono.just(places.contents()));
    }

    int watchCount() {
        return signals.count();
    }
}
