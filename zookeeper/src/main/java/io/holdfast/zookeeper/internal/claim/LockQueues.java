package io.holdfast.zookeeper.internal.claim;

import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper.Content;
import io.holdfast.zookeeper.internal.client.Reply;
import io.holdfast.zookeeper.internal.queue.LockQueue;
import io.holdfast.zookeeper.internal.queue.NewerFormException;
import io.holdfast.zookeeper.internal.queue.QueueNeed;
import io.holdfast.zookeeper.internal.queue.QueueNode;
import io.holdfast.zookeeper.internal.session.Session;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * The queues in which the session has claims, or had some lately. Requests what the first waiter of each
 * queue must know, and makes a claim the holder as soon as no node is in front of it. On the executor only.
 */
public final class LockQueues {

    /** The most queues without a claim. Each has a watch at the server until the server removes the empty queue. */
    public static final int MOST_IDLE = 10_000;

    private final Map<String, LockQueue<ClaimState>> byPath = new LinkedHashMap<>(16, 0.75f, true);
    private final AsyncZooKeeper zooKeeper;
    private final ClaimRegistry claims;
    private final Supplier<LockQueue<ClaimState>> made;

    /**
     * The session of the claims while it is connected. An answer to a session that has ended may come late. So requests and grants use only
     * this session.
     */
    private @Nullable Session session;

    /** Whether the last queue that was not known turned out to be missing: names that are used once come one after the other. */
    private boolean areNamesNew = true;

    LockQueues(AsyncZooKeeper zooKeeper, ClaimRegistry claims, Supplier<LockQueue<ClaimState>> made) {
        this.zooKeeper = zooKeeper;
        this.made = made;
        this.claims = claims;
    }

    /** Returns the queue. For a new one, it forgets a queue that was not used for a while. */
    public LockQueue<ClaimState> at(String path) {
        LockQueue<ClaimState> queue = byPath.get(path);
        if (queue == null) {
            queue = made.get();
            byPath.put(path, queue);
            forgetOldest();
        }
        return queue;
    }

    private void forgetOldest() {
        if (byPath.size() > MOST_IDLE) {
            byPath.values().stream()
                    .limit(8)
                    .filter(LockQueue::isForgettable)
                    .findFirst()
                    .ifPresent(byPath.values()::remove);
        }
    }

    private @Nullable LockQueue<ClaimState> of(ClaimState state) {
        return state.hasQueue() ? byPath.get(state.queue().path()) : null;
    }

    /**
     * The claim is a holder from now on.
     *
     * @return whether it must mark its node
     */
    boolean holds(ClaimState state) {
        LockQueue<ClaimState> queue = of(state);
        if (queue == null || state.path() == null) {
            return false;
        }
        queue.holds(state.node());
        return queue.owesMark(state.node(), state.hasStood() || state.isDoubtful());
    }

    /** The claim has ended, and its node is about to be deleted. */
    public void leaves(ClaimState state) {
        LockQueue<ClaimState> queue = of(state);
        if (queue != null && state.path() != null) {
            queue.leaves(state.node());
            advance(state.queue().path());
        }
    }

    /** A node of any queue surely does not exist any more. */
    public void gone(String path) {
        int slash = path.lastIndexOf('/');
        LockQueue<ClaimState> queue = slash < 0 ? null : byPath.get(path.substring(0, slash));
        if (queue != null && queue.gone(path.substring(slash + 1))) {
            advance(path.substring(0, slash));
        }
        LockQueue<ClaimState> itself = byPath.get(path);
        if (itself != null) {
            itself.isMissing();
            advance(path);
        }
    }

    /** Does the same as {@link #forget}, and requests again what the first waiter needs. */
    void unsure(String path) {
        forget(path);
        advance(path);
    }

    /** What the client knows of the queue at that path, if there is one, may be outdated. */
    public void forget(String path) {
        LockQueue<ClaimState> queue = byPath.get(path);
        if (queue != null) {
            queue.forgetAll();
        }
    }

    /**
     * The session is connected or connected again. Events may have been missed, even if the client did not notice that the connection was
     * lost.
     */
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

    /** Returns null while there is no connection. */
    @Nullable
    Session session() {
        return session;
    }

    /** The session has ended. */
    void clear() {
        session = null;
        byPath.clear();
    }

    /** The writer holds the lock as a reader from now on. */
    public void reads(ClaimState state) {
        LockQueue<ClaimState> queue = of(state);
        if (queue != null) {
            queue.reads(state.node());
            advance(state);
        }
    }

    /** A watched node has changed. Its watch is used up. */
    void nodeChanged(String path) {
        int slash = path.lastIndexOf('/');
        LockQueue<ClaimState> queue = slash < 0 ? null : byPath.get(path.substring(0, slash));
        QueueNode node = queue == null ? null : QueueNode.parse(path.substring(slash + 1));
        if (queue != null && node != null) {
            queue.notWatching(node);
            advance(path.substring(0, slash));
        }
    }

    /** The names in the queue have changed. Their watch is used up. */
    void namesChanged(String path) {
        LockQueue<ClaimState> queue = byPath.get(path);
        if (queue != null) {
            queue.namesChanged();
            advance(path);
        }
    }

    /** Whether another claim may wait for an answer that this one has got. */
    boolean isAwaited(ClaimState state) {
        LockQueue<ClaimState> queue = of(state);
        return queue != null && queue.takeAwaited();
    }

    void advance(ClaimState state) {
        if (of(state) != null) {
            advance(state.queue().path());
        }
    }

    private void advance(String path) {
        LockQueue<ClaimState> queue = byPath.get(path);
        Session current = session;
        if (queue == null || current == null || !current.isConnected()) {
            return;
        }
        queue.first().stream()
                .filter(it -> it.operations().areOver() && it.isIn(current))
                .forEach(it -> claims.isFirst(it, current));
        QueueNeed need = queue.need();
        if (need instanceof QueueNeed.Watch watch) {
            Disposable unused = watch(path, watch.node(), current).subscribe(watched -> {
                if (watched.isNoNode()) {
                    gone(watched.path());
                    advance(path); // the list of another claim may have shown that before
                } else if (watched.isOk()) {
                    advance(path); // the node may have turned out to be that of a reader, or of a holder
                } else {
                    tellFirst(queue, watched);
                }
            });
        } else if (need instanceof QueueNeed.Names && queue.isReading()) {
            queue.await();
        } else if (need instanceof QueueNeed.Names) {
            Disposable unused = list(path, current).subscribe(listed -> {
                if (listed.isOk()) {
                    advance(path);
                } else {
                    tellFirst(queue, listed);
                }
            });
        }
    }

    /** Signals the first waiter: its attempt repeats the request, and fails with the cause. After a reconnect, all is requested again. */
    private void tellFirst(LockQueue<ClaimState> queue, Reply<?> failed) {
        ClaimState state = queue.firstWaiting();
        if (failed.code() != Code.CONNECTIONLOSS && state != null) {
            claims.mustAttempt(state);
        }
    }

    /** Whether the node was created by a writer that has become a reader. */
    public static boolean isReader(Reply<Content> watched) {
        return watched.isOk() && watched.get().reads();
    }

    /** Whether the node was marked as that of a holder. */
    public static boolean isHolder(Reply<Content> watched) {
        return watched.isOk() && watched.get().holds();
    }

    /** Watches for the end of a node, and checks whether its writer has become a reader, or its claim has a permit. */
    public Mono<Reply<Content>> watch(String path, QueueNode node, Session session) {
        LockQueue<ClaimState> queue = at(path);
        queue.watching(node);
        return zooKeeper.watch(session, path + '/' + node.name()).doOnNext(watched -> {
            if (isReader(watched)) {
                queue.reads(node);
            } else if (isHolder(watched)) {
                queue.isHeld(node);
            } else if (!watched.isOk() && !watched.isNoNode()) {
                queue.notWatching(node);
            }
        });
    }

    /** Lists the nodes in front of the claims of the session. Also watches the names, if the first waiter needs that. */
    public Mono<Reply<List<String>>> list(String path, Session session) {
        LockQueue<ClaimState> queue = at(path);
        int upTo = queue.lastNumber();
        int asked = queue.namesAsked();
        boolean isWatched = queue.watchesNames();
        Mono<Reply<List<String>>> list =
                isWatched ? zooKeeper.listAndWatch(session, path) : zooKeeper.list(session, path);
        return list.flatMap(listed -> {
            if (listed.isOk()) {
                if (isWatched) {
                    queue.namesWatched();
                }
                return learn(queue, asked, upTo, listed);
            }
            queue.namesNotRead();
            return Mono.just(listed);
        });
    }

    /** Applies a list that was {@linkplain LockQueue#namesAsked requested}. */
    public Mono<Reply<List<String>>> learn(
            LockQueue<ClaimState> queue, int asked, int upTo, Reply<List<String>> listed) {
        return zooKeeper
                .read(listed.get(), () -> QueueNode.parseUpTo(upTo, listed.get()))
                .doOnError(bug -> queue.namesNotRead())
                .map(nodes -> {
                    new ArrayList<>(queue.namesRead(asked, upTo, nodes)).forEach(claims::vanished);
                    return listed;
                })
                .onErrorResume(
                        NewerFormException.class, newer -> Mono.just(Reply.newer(listed.path() + '/' + newer.node())));
    }

    /** Whether a claim that enters now should create the queue, too. */
    public boolean mayBegin(LockQueue<ClaimState> queue) {
        return queue.mayBegin(areNamesNew);
    }

    /** A request that needs the queue, or its absence, was answered. Call it before the queue learns that. */
    public void isAnswered(LockQueue<ClaimState> queue, boolean wasMissing) {
        areNamesNew = queue.isUnknown() ? wasMissing : areNamesNew;
    }

    /** Watches for the deletion of the queue. The queue cannot be deleted while it contains the node that was created just before. */
    public Mono<Boolean> guard(String path, Session session) {
        LockQueue<ClaimState> queue = at(path);
        return Mono.defer(() -> {
            queue.guardAsked();
            return zooKeeper.watchQueue(session, path).map(watched -> {
                if (watched.isOk()) {
                    queue.guarded();
                }
                return watched.isOk();
            });
        });
    }

    /** Returns a claim that would get the lock after one more release by another client; null without one. */
    @Nullable
    ClaimState next() {
        for (LockQueue<ClaimState> queue : byPath.values()) {
            ClaimState state = queue.next();
            if (state != null) {
                return state;
            }
        }
        return null;
    }
}
