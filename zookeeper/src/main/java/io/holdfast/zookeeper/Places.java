package io.holdfast.zookeeper;

import io.holdfast.LossReason;
import io.holdfast.spi.LockClaim;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;

/**
 * All that the claims of this back end have in ZooKeeper, and what becomes of it when the session does something. On the strand only.
 */
final class Places implements Sessions.Events {

    private static final Logger LOG = LoggerFactory.getLogger(ZooKeeperLockBackend.class);

    private static final Duration WATCH_PAUSE = Duration.ofMillis(50);

    private final Map<String, Place> byClaim = new HashMap<>();

    /** By the node in front; in the order in which they came, so that a history can be run again. */
    private final Map<String, Set<Place>> waitingFor = new HashMap<>();

    private final Map<String, Place> byOwnNode = new HashMap<>();

    /** Nodes of sessions that have ended: gone as soon as the server notices, or sooner if we delete them. */
    private final List<String> orphans = new ArrayList<>();

    private final Signals signals;
    private final Tree tree;
    private final boolean failFast;
    private final Consumer<Place> withdrawal;
    private final Strand strand;

    /** Those that hold a lock and are not watched yet, in the order in which they got it. There is a task when there is one of them. */
    private final Deque<Unwatched> unwatched = new ArrayDeque<>();

    /** To be watched then, if it still holds the lock in that session. */
    private record Unwatched(Place place, Session session, long dueNanos) {}

    /**
     * Nothing yet.
     *
     * @param withdrawal tries once more to give up a place that nobody wants
     */
    Places(Signals signals, Tree tree, boolean failFast, Consumer<Place> withdrawal, Strand strand) {
        this.signals = signals;
        this.tree = tree;
        this.failFast = failFast;
        this.withdrawal = withdrawal;
        this.strand = strand;
    }

    Place open(LockClaim claim) {
        return byClaim.computeIfAbsent(claim.id(), id -> new Place(claim));
    }

    @Nullable
    Place find(String claimId) {
        return byClaim.get(claimId);
    }

    List<Place> all() {
        return List.copyOf(byClaim.values());
    }

    /** Forgets it when there is nothing to remember. */
    void settle(Place place) {
        if (place.isEmpty() && place.turns().areOver()) {
            byClaim.remove(place.id(), place);
        }
    }

    /** Before the watch is set: an event of it is not missed then. */
    void expect(String path, Place place) {
        expectNothing(place);
        place.waitFor(path);
        waitingFor.computeIfAbsent(path, it -> new LinkedHashSet<>(1)).add(place);
    }

    void expectNothing(Place place) {
        String path = place.waitsFor();
        if (path != null) {
            place.waitFor(null);
            waitingFor.computeIfPresent(path, (it, places) -> {
                places.remove(place);
                return places.isEmpty() ? null : places;
            });
        }
    }

    /**
     * It holds the lock. Its node is watched by its owner, but not at once: most locks are held for less than the pause, and a watch is a
     * request and, at the release, an event. What happens to the node before the watch is there is seen when it is set.
     */
    void guard(Place place, Session session) {
        signals.forget(place.id()); // what was lost before is not this
        byOwnNode.put(place.knownPath(), place);
        unwatched.add(new Unwatched(place, session, strand.now() + WATCH_PAUSE.toNanos()));
        if (unwatched.size() == 1) {
            watchSoon(WATCH_PAUSE);
        }
    }

    /** One task for all, since one for each would wake a thread for each. */
    private void watchSoon(Duration pause) {
        Disposable unused = strand.runAfter(pause, () -> {
            long now = strand.now();
            for (Unwatched first = unwatched.peek(); first != null; first = unwatched.peek()) {
                if (first.dueNanos() - now > 0) {
                    watchSoon(WATCH_PAUSE); // and not when that one is due: each of them would wake a thread then
                    return;
                }
                unwatched.remove();
                watchEnd(first.place(), first.session());
            }
        });
    }

    /**
     * Marks the node of a holder, for the next waiter of the semaphore: it is at the head now, and nothing was deleted that it could have
     * seen. A mark that fails is sent again with the next {@link #continued}, since that waiter does not poll.
     */
    void mark(Place place, Session session) {
        String path = place.path();
        if (path == null || !place.owesMark() || !place.isIn(session)) {
            return;
        }
        place.marking();
        Disposable unused = tree.mark(session, path).subscribe(reply -> {
            if (path.equals(place.path())) {
                place.marked(reply.isOk());
            }
            if (!reply.isOk()) {
                LOG.debug("{} could not be marked, it is tried again: {}", place, reply);
            }
        });
    }

    /** If it fails, the next renewal finds out by asking for the node. */
    private void watchEnd(Place place, Session session) {
        String path = place.path();
        if (path == null || byOwnNode.get(path) != place || !place.isHeld() || !place.isIn(session)) {
            return;
        }
        Disposable unused = tree.watchEnd(session, path).subscribe(watched -> {
            if (watched.isNoNode() && path.equals(place.path())) {
                gone(place);
            }
        });
    }

    void guardNoLonger(Place place) {
        if (place.path() != null) {
            byOwnNode.remove(place.knownPath());
        }
    }

    /** Its node is surely gone; whoever holds it does not any more. */
    void gone(Place place) {
        boolean wasHeld = place.isHeld();
        guardNoLonger(place);
        expectNothing(place);
        place.left();
        if (wasHeld && !place.isWithdrawn()) {
            signals.lost(place.id(), LossReason.NOT_HELD);
        }
        settle(place);
    }

    @Override
    public void opened(Session session) {
        sweep(session);
        lookAgain();
    }

    /** The holder knows of the loss, so the next one need not wait for the server to notice. */
    void giveUpOrphan(Place place, @Nullable Session current) {
        String path = place.takeOrphan();
        if (path != null) {
            orphans.add(path);
            if (current != null) {
                sweep(current);
            }
        }
    }

    /** One try each: the server ends what is left of a session by itself. */
    private void sweep(Session session) {
        for (String path : orphans) {
            Disposable unused = tree.delete(session, path).subscribe(reply -> LOG.debug("left over: {}", reply));
        }
        orphans.clear();
    }

    @Override
    public void reconnected(Session session) {
        lookAgain();
    }

    /** Whatever was signalled while nobody was connected may have been missed. A waiter reads the node that it waits for. */
    private void lookAgain() {
        withdrawAgain();
        signals.changedAll();
    }

    /** What a server refused to give up may stay as long as the session, which nobody may ever end. */
    @Override
    public void continued(Session session) {
        withdrawAgain();
        all().forEach(place -> mark(place, session));
    }

    /** Unless that is under way. */
    private void withdrawAgain() {
        for (Place place : all()) {
            if (place.isWithdrawn() && place.turns().areOver()) {
                withdrawal.accept(place);
            }
        }
    }

    /** A lease was given out for its part of the longer time; the server would end it before that if the connection were lost again. */
    @Override
    public void shortened(Session session) {
        loseAll();
    }

    @Override
    public void disconnected(Session session) {
        if (failFast) {
            loseAll();
        }
    }

    private void loseAll() {
        all().stream().filter(Place::isHeld).forEach(place -> signals.lost(place.id(), LossReason.DISCONNECTED));
    }

    @Override
    public void ended(Session session) {
        int lost = 0;
        for (Place place : all()) {
            if (place.belongsTo(session)) {
                lost++;
                endedWithIts(session, place);
            }
        }
        if (lost > 0) {
            LOG.warn(
                    "{} has ended, and with it {} lock(s) and places in queues; those who wait go to the end of another queue",
                    session,
                    lost);
        }
    }

    private void endedWithIts(Session session, Place place) {
        String path = place.path();
        boolean isLost = place.isHeld() && !place.isWithdrawn();
        guardNoLonger(place);
        expectNothing(place);
        place.left();
        if (path != null && isLost) {
            place.orphaned(path);
        } else if (path != null) {
            orphans.add(path);
        }
        if (isLost) {
            LOG.debug("{} ended with {}", place, session);
            signals.lost(place.id(), LossReason.DISCONNECTED);
        }
        settle(place);
    }

    /** A waiter that is told looks again, and then fails. */
    @Override
    public void ownerClosed() {
        signals.changedAll();
    }

    @Override
    public void deleted(Session session, String path) {
        Place own = byOwnNode.get(path);
        if (own != null && own.isIn(session)) {
            gone(own);
        }
        changed(session, path);
    }

    @Override
    public void changed(Session session, String path) {
        for (Place place : waitingFor.getOrDefault(path, Set.of()).toArray(Place[]::new)) {
            expectNothing(place);
            signals.changed(place.id());
        }
    }

    /** How many nodes are waited for, for tests. */
    int waitedFor() {
        return waitingFor.size();
    }

    /** What is not given up yet, a line each. */
    List<String> contents() {
        return byClaim.values().stream().map(Place::toString).toList();
    }
}
