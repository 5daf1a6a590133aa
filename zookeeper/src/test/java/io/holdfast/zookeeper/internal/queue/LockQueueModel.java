package io.holdfast.zookeeper.internal.queue;

import io.holdfast.spi.LockKind;
import io.holdfast.zookeeper.internal.queue.LockQueue.Position;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

/**
 * A model of a server with one queue, a session with many claims in it, and other clients. The messages from the server to the session come
 * late, but in order. The model compares the holders that the session sees with the holders on the server.
 */
final class LockQueueModel {

    private static final long OWN = 7;

    private static final long OTHERS = 8;

    private final Random random;
    private final LockKind[] kinds;
    private final LockQueue<QueueNode> known = new LockQueue<>();

    private final NavigableSet<QueueNode> nodes = new TreeSet<>(QueueNode.ORDER);
    private final Deque<Runnable> underWay = new ArrayDeque<>();
    private final Set<String> watched = new HashSet<>();
    private final Map<QueueNode, Boolean> own = new HashMap<>(); // whether it holds
    private final List<String> wrong = new ArrayList<>();
    private boolean isQueueWatched;
    private int nextNumber;
    private int ids;
    private int lists;
    private int grants;

    LockQueueModel(Random random, LockKind... kinds) {
        this.random = random;
        this.kinds = kinds;
    }

    void run() {
        for (int step = 0; step < 60; step++) {
            switch (random.nextInt(9)) {
                case 0, 1 -> enter();
                case 2, 3 -> otherEnters();
                case 4 -> leave();
                case 5 -> otherLeaves();
                case 6 -> {
                    if (random.nextInt(6) == 0) {
                        reconnect();
                    } else {
                        reap();
                    }
                }
                default -> hear();
            }
            proceed();
        }
        settle();
        if (!nodes.isEmpty() && own.containsKey(nodes.first()) && !own.get(nodes.first())) {
            wrong.add("the first claim waits for ever:  " + nodes.first());
        }
    }

    List<String> wrong() {
        return wrong;
    }

    int lists() {
        return lists;
    }

    int grants() {
        return grants;
    }

    private void settle() {
        for (int i = 0; i < 1_000 && !underWay.isEmpty(); i++) {
            hear();
            proceed();
        }
    }

    private void hear() {
        if (!underWay.isEmpty()) {
            underWay.removeFirst().run();
        }
    }

    private QueueNode create(long session) {
        LockKind kind = kinds[random.nextInt(kinds.length)];
        char letter = kind == LockKind.MUTEX ? 'm' : kind == LockKind.READ ? 'r' : 'w';
        QueueNode node = QueueNode.parse("%x_%s1_%x_%010d".formatted(++ids, letter, session, nextNumber++));
        nodes.add(node);
        return node;
    }

    private void otherEnters() {
        QueueNode unused = create(OTHERS);
    }

    private void enter() {
        boolean isListed = !known.mayDoWithoutList(kinds[0]) || random.nextInt(10) == 0;
        boolean isGuarded = known.wantsGuard();
        boolean begins = nextNumber == 0 && random.nextBoolean();
        QueueNode node = create(OWN);
        underWay.add(() -> {
            own.put(node, false);
            if (begins) {
                known.begun(node, node);
            } else {
                known.entered(node, node);
            }
        });
        if (begins) {
            return;
        }
        if (isListed) {
            answerWithNames(known.namesAsked(), node.sequence());
        }
        if (isGuarded) {
            known.guardAsked();
            isQueueWatched = true;
            underWay.add(known::guarded);
        }
    }

    private void answerWithNames(int asked, int upTo) {
        lists++;
        List<String> names = nodes.stream().map(QueueNode::name).toList();
        boolean isReadElsewhere = random.nextInt(4) == 0;
        Runnable read = () -> known.namesRead(asked, upTo, QueueNode.parseUpTo(upTo, names))
                .forEach(it -> wrong.add("wrongly reported as deleted:  " + it));
        underWay.add(isReadElsewhere ? () -> underWay.add(read) : read);
    }

    /** The claim ends at once. The server deletes its node now, and reports that later. */
    private void leave() {
        List<QueueNode> all = List.copyOf(own.keySet());
        if (!all.isEmpty()) {
            QueueNode node = all.get(random.nextInt(all.size()));
            own.remove(node);
            known.leaves(node);
            nodes.remove(node);
            underWay.add(() -> {
                boolean unused = known.gone(node.name());
            });
        }
    }

    private void otherLeaves() {
        List<QueueNode> others =
                nodes.stream().filter(it -> it.sessionId() == OTHERS).toList();
        if (!others.isEmpty()) {
            QueueNode node = others.get(random.nextInt(3) == 0 ? random.nextInt(others.size()) : 0);
            nodes.remove(node);
            if (watched.remove(node.name())) {
                underWay.add(() -> {
                    boolean unused = known.gone(node.name());
                });
            }
        }
    }

    /** Delivers the messages under way first. Later events are lost. */
    private void reconnect() {
        settle();
        watched.clear();
        isQueueWatched = false;
        known.forgetAll();
    }

    private void reap() {
        if (nodes.isEmpty()) {
            nextNumber = 0;
            if (isQueueWatched) {
                isQueueWatched = false;
                underWay.add(known::forgetAll);
            }
        }
    }

    /** Does what the session does by itself. */
    private void proceed() {
        for (QueueNode first : known.first()) {
            grants++;
            known.holds(first);
            own.put(first, true);
            judge(first);
        }
        QueueNeed need = known.need();
        if (need instanceof QueueNeed.Watch watch) {
            known.watching(watch.node());
            boolean isThere = nodes.contains(watch.node());
            if (isThere) {
                watched.add(watch.node().name());
            } else {
                underWay.add(() -> {
                    boolean unused = known.gone(watch.node().name());
                });
            }
        } else if (need instanceof QueueNeed.Names && !known.isReading()) {
            answerWithNames(known.namesAsked(), known.lastNumber());
        }
    }

    private void judge(QueueNode granted) {
        for (QueueNode front : nodes.headSet(granted)) {
            boolean blocks = granted.kind() != LockKind.READ || front.kind() == LockKind.WRITE;
            if (blocks) {
                wrong.add("%s holds behind %s".formatted(granted, front));
            }
        }
        if (known.position(granted) != Position.FIRST) {
            wrong.add("held in the session but not on the server:  " + granted);
        }
    }
}
