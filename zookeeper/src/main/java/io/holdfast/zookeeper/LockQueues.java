package io.holdfast.zookeeper;

import io.holdfast.zookeeper.LockQueue.Need;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * The queues of mutexes and read/write locks that the session has claims in, or had lately. Asks for what the first waiter of each has to
 * know, and makes a claim the holder as soon as nothing is in its way. On the strand only.
 */
final class LockQueues {

    /** Without a claim in them. Each has a watch at the server, until the server takes the empty queue away. */
    static final int MOST_IDLE = 10_000;

    /** Told what becomes of claims. */
    interface Claims {

        /** It waits, nothing is in its way any more, and no attempt of it is under way. */
        void isFirst(Place place, Session session);

        /** Its node is not there any more. */
        void vanished(Place place);

        /** Something failed that an attempt of it will report. */
        void hasToLook(Place place);
    }

    private final Map<String, LockQueue<Place>> byPath = new LinkedHashMap<>(16, 0.75f, true);
    private final Tree tree;
    private final Claims claims;
    private final Supplier<LockQueue<Place>> made;

    /**
     * The one that the claims are in, while its connection is there. An answer to a session that has ended may come late: what is known now is
     * asked for, and granted, in this one only.
     */
    private @Nullable Session session;

    LockQueues(Tree tree, Claims claims, Supplier<LockQueue<Place>> made) {
        this.tree = tree;
        this.made = made;
        this.claims = claims;
    }

    /** The queue; one that was not used for a while is forgotten for it. */
    LockQueue<Place> at(String path) {
        LockQueue<Place> queue = byPath.get(path);
        if (queue == null) {
            queue = made.get();
            byPath.put(path, queue);
            forgetOldest();
        }
        return queue;
    }

    private void forgetOldest() {
        if (byPath.size() > MOST_IDLE) {
            Iterator<LockQueue<Place>> all = byPath.values().iterator();
            for (int i = 0; i < 8 && all.hasNext(); i++) {
                if (all.next().isForgettable()) {
                    all.remove();
                    return;
                }
            }
        }
    }

    /** Null for a permit, and for a queue in which no claim was. */
    private @Nullable LockQueue<Place> of(Place place) {
        return place.isPermit() || !place.hasQueue()
                ? null
                : byPath.get(place.queue().path());
    }

    void holds(Place place) {
        LockQueue<Place> queue = of(place);
        if (queue != null && place.path() != null) {
            queue.holds(place.node());
        }
    }

    /** The claim has ended, and its node is about to go. */
    void leaves(Place place) {
        LockQueue<Place> queue = of(place);
        if (queue != null && place.path() != null) {
            queue.leaves(place.node());
            advance(place.queue().path());
        }
    }

    /** A node of any queue is surely not there. */
    void gone(String path) {
        int slash = path.lastIndexOf('/');
        LockQueue<Place> queue = slash < 0 ? null : byPath.get(path.substring(0, slash));
        if (queue != null && queue.gone(path.substring(slash + 1))) {
            advance(path.substring(0, slash));
        }
        unsure(path);
    }

    /** As {@link #forget}; what its first waiter waits for is asked for anew. */
    void unsure(String path) {
        forget(path);
        advance(path);
    }

    /** What is known of the queue with that path, if there is one, is not sure any more. */
    void forget(String path) {
        LockQueue<Place> queue = byPath.get(path);
        if (queue != null) {
            queue.forgetAll();
        }
    }

    /** Connected, or connected again. Events may have been missed, even if nothing told that the connection was lost. */
    void connected(Session to) {
        connectionLost();
        session = to;
        List.copyOf(byPath.keySet()).forEach(this::advance);
    }

    /** Events may be missed from now on. */
    void connectionLost() {
        session = null;
        byPath.values().removeIf(LockQueue::isForgettable);
        byPath.values().forEach(LockQueue::forgetAll);
    }

    /** Null while there is no connection. */
    @Nullable
    Session session() {
        return session;
    }

    /** The session has ended. */
    void clear() {
        session = null;
        byPath.clear();
    }

    void advance(Place place) {
        if (of(place) != null) {
            advance(place.queue().path());
        }
    }

    private void advance(String path) {
        LockQueue<Place> queue = byPath.get(path);
        Session current = session;
        if (queue == null || current == null || !current.isConnected()) {
            return;
        }
        queue.first().stream()
                .filter(it -> it.turns().areOver() && it.isIn(current))
                .forEach(it -> claims.isFirst(it, current));
        Need need = queue.need();
        if (need instanceof Need.Watch watch) {
            Disposable unused = watch(path, watch.node(), current).subscribe(watched -> {
                if (watched.isNoNode()) {
                    gone(watched.path());
                } else if (!watched.isOk()) {
                    tellFirst(queue, watched);
                }
            });
        } else if (need instanceof Need.Names && !queue.isReading()) {
            Disposable unused = list(path, current).subscribe(listed -> {
                if (listed.isOk()) {
                    advance(path);
                } else {
                    tellFirst(queue, listed);
                }
            });
        }
    }

    /** Its attempt asks again, and fails with what is wrong. Connected again, all is asked for anew. */
    private void tellFirst(LockQueue<Place> queue, Reply<?> failed) {
        Place place = queue.firstWaiting();
        if (failed.code() != Code.CONNECTIONLOSS && place != null) {
            claims.hasToLook(place);
        }
    }

    /** Watches for the end of a node. */
    Mono<Reply<byte[]>> watch(String path, QueueNode node, Session session) {
        LockQueue<Place> queue = at(path);
        queue.watching(node);
        return tree.watch(session, path + '/' + node.name()).doOnNext(watched -> {
            if (!watched.isOk() && !watched.isNoNode()) {
                queue.notWatching(node);
            }
        });
    }

    /** Learns which nodes there are in front of the claims of the session. */
    Mono<Reply<List<String>>> list(String path, Session session) {
        LockQueue<Place> queue = at(path);
        int upTo = queue.lastNumber();
        int asked = queue.namesAsked();
        return tree.list(session, path).flatMap(listed -> {
            if (listed.isOk()) {
                return learn(queue, asked, upTo, listed);
            }
            queue.namesNotRead();
            return Mono.just(listed);
        });
    }

    /** Takes in a list that was {@linkplain LockQueue#namesAsked asked for}. */
    Mono<Reply<List<String>>> learn(LockQueue<Place> queue, int asked, int upTo, Reply<List<String>> listed) {
        return tree.read(listed.get(), () -> LockQueue.nodesUpTo(upTo, listed.get()))
                .doOnError(bug -> queue.namesNotRead())
                .map(nodes -> {
                    new ArrayList<>(queue.namesRead(asked, upTo, nodes)).forEach(claims::vanished);
                    return listed;
                });
    }

    /** Has the server tell when the queue is deleted, which it cannot be while the node is there that was made just before. */
    Mono<Boolean> guard(String path, Session session) {
        LockQueue<Place> queue = at(path);
        return Mono.defer(() -> {
            queue.guardAsked();
            return tree.watchQueue(session, path).map(watched -> {
                if (watched.isOk()) {
                    queue.guarded();
                }
                return watched.isOk();
            });
        });
    }

    /** A claim that would get the lock after one more release by another client; null without one. */
    @Nullable
    Place next() {
        for (LockQueue<Place> queue : byPath.values()) {
            Place place = queue.next();
            if (place != null) {
                return place;
            }
        }
        return null;
    }
}
