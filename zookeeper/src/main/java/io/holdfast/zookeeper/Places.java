package io.holdfast.zookeeper;

import io.holdfast.LossReason;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;

/**
 * All that the claims of this back end have in ZooKeeper, and what becomes of it when the session does something. On the strand only.
 */
final class Places implements Sessions.Events, LockQueues.Claims {

    private static final Logger LOG = LoggerFactory.getLogger(ZooKeeperLockBackend.class);

    /** Most locks are held for less. */
    private static final Duration HELD_UNWATCHED = Duration.ofMillis(50);

    /** Claims that wait for longer do not come to the front without the server having told whether their nodes are there. */
    private static final Duration IN_LINE_UNWATCHED = Duration.ofSeconds(1);

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

    private final LockQueues queues;
    private final DelayedWatches held;
    private final DelayedWatches longInLine;

    /**
     * Nothing yet.
     *
     * @param withdrawal tries once more to give up a place that nobody wants
     */
    Places(
            Signals signals,
            Tree tree,
            boolean failFast,
            Consumer<Place> withdrawal,
            Strand strand,
            Supplier<LockQueue<Place>> made) {
        this.signals = signals;
        this.tree = tree;
        this.failFast = failFast;
        this.withdrawal = withdrawal;
        this.strand = strand;
        queues = new LockQueues(tree, this, made);
        held = new DelayedWatches(strand, HELD_UNWATCHED, this::watchEnd);
        longInLine = new DelayedWatches(strand, IN_LINE_UNWATCHED, this::watchEnd);
    }

    LockQueues queues() {
        return queues;
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

    /** One of its requests has ended: forgets it when there is nothing to remember. What became possible meanwhile, happens now. */
    void settle(Place place) {
        if (!place.isHeld()) {
            queues.advance(place); // a claim without a node, too, may have learned what others wait for
        }
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

    /** It has a node in the queue. */
    void entered(Place place, Session session) {
        byOwnNode.put(place.knownPath(), place);
        if (!place.isPermit()) {
            longInLine.add(place, session);
        }
    }

    /** It holds the lock from now on. What happens to its node before the watch is there is seen when it is set. */
    void hold(Place place, Session session) {
        signals.forget(place.id()); // what was lost before is not this
        byOwnNode.put(place.knownPath(), place);
        place.hold();
        queues.holds(place);
        held.add(place, session);
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

    /** Once for each node. If the request fails, a renewal finds out by asking for the node, and a waiter by the list of the new connection. */
    private void watchEnd(Place place, Session session) {
        String path = place.path();
        if (path == null || byOwnNode.get(path) != place || !place.isIn(session) || place.isEndWatched()) {
            return;
        }
        place.watchesEnd();
        Disposable unused = tree.watchEnd(session, path).subscribe(watched -> {
            if (watched.isNoNode() && path.equals(place.path())) {
                vanished(place);
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
        String path = place.path();
        guardNoLonger(place);
        expectNothing(place);
        place.left();
        if (path != null) {
            queues.gone(path);
        }
        if (wasHeld && !place.isWithdrawn()) {
            signals.lost(place.id(), LossReason.NOT_HELD);
        }
        settle(place);
    }

    /** As {@link #gone}; a waiter has to begin anew. */
    @Override
    public void vanished(Place place) {
        boolean waits = !place.isHeld() && !place.isWithdrawn();
        gone(place);
        if (waits) {
            signals.changed(place.id());
        }
    }

    @Override
    public void hasToLook(Place place) {
        if (place.tell()) {
            signals.changed(place.id());
        }
    }

    /**
     * A grant is counted from the newest attempt. The engine takes off a hundredth of it, for clocks of different speed: of one that waited
     * for long that would be more than is right for a session that is proved now, so such a claim is asked to make another attempt.
     */
    @Override
    public void isFirst(Place place, Session session) {
        boolean isProved = session.isConnected() && session.proof().suffices(strand.now());
        Duration lease = session.proof().validFrom(place.askedNanos());
        if (isProved && lease.compareTo(session.proof().timeout().multipliedBy(2)) <= 0) {
            hold(place, session);
            signals.granted(place.id(), new WatchSignal.Granted(place.zxid(), place.attempt(), lease));
        } else {
            hasToLook(place);
        }
    }

    @Override
    public void opened(Session session) {
        queues.connected(session);
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

    /** A node of a session that has ended turned up. */
    void leftBehind(String path) {
        orphans.add(path);
        Session current = queues.session();
        if (current != null) {
            sweep(current);
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
        queues.connected(session);
        lookAgain();
    }

    /** Whatever was signalled while nobody was connected may have been missed. A waiter reads the node that it waits for. */
    private void lookAgain() {
        withdrawAgain();
        signals.changedAll();
    }

    @Override
    public boolean checkNext(Session session) {
        Place next = queues.next();
        if (next == null || !next.isIn(session)) {
            return false;
        }
        String path = next.knownPath();
        Disposable unused = tree.check(session, List.of(path)).subscribe(checked -> {
            boolean isGone = checked.isOk() && checked.get().get(0) == Code.NONODE;
            if (isGone && path.equals(next.path())) {
                vanished(next);
            }
        });
        return true;
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
        queues.connectionLost();
        if (failFast) {
            loseAll();
        }
    }

    private void loseAll() {
        all().stream().filter(Place::isHeld).forEach(place -> signals.lost(place.id(), LossReason.DISCONNECTED));
    }

    @Override
    public void ended(Session session) {
        queues.clear();
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
            vanished(own);
        }
        queues.gone(path);
        tellThoseThatWaitFor(path);
    }

    @Override
    public void changed(Session session, String path) {
        queues.unsure(path);
        tellThoseThatWaitFor(path);
    }

    private void tellThoseThatWaitFor(String path) {
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
