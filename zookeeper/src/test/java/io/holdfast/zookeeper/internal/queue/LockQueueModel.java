package io.holdfast.zookeeper.internal.queue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * A model of a server with one queue, and of sessions with many claims in it. Requests and answers of a session come late, but in order. The
 * server reports each watched change once. The model compares the holders that the sessions see with the nodes on the server.
 */
final class LockQueueModel {

    private final Random random;
    private final boolean isPrompt;
    private final Supplier<String> kinds;
    private final List<Member> members = new ArrayList<>();

    /** The nodes on the server by their numbers. */
    private final Map<Integer, QueueNode> nodes = new TreeMap<>();

    private final Set<String> marked = new HashSet<>();
    private final Map<String, Set<Member>> watches = new HashMap<>();
    private final Set<Member> namesWatchedBy = new LinkedHashSet<>();
    private final Set<Member> queueWatchedBy = new LinkedHashSet<>();
    private final List<String> wrong = new ArrayList<>();
    private boolean isThere;
    private int nextNumber;
    private int ids;
    private int lists;
    private int grants;
    private int marks;
    private int deletions;
    private int reports;

    /**
     * Starts without a queue.
     *
     * @param isPrompt whether all messages arrive before the next event
     * @param kinds the kind of the next node, as it is in a name, for example {@code s5-3}
     */
    LockQueueModel(Random random, int members, boolean isPrompt, Supplier<String> kinds) {
        this.random = random;
        this.isPrompt = isPrompt;
        this.kinds = kinds;
        for (int i = 1; i <= members; i++) {
            this.members.add(new Member(i));
        }
    }

    void run() {
        for (int step = 0; step < 80; step++) {
            Member one = members.get(random.nextInt(members.size()));
            switch (random.nextInt(10)) {
                case 0, 1 -> one.enter();
                case 2 -> one.leave();
                case 3, 4, 5 -> one.reachTheServer();
                case 6 -> {
                    if (random.nextInt(12) == 0) {
                        one.reconnect();
                    } else {
                        reap();
                    }
                }
                default -> one.hear();
            }
            one.proceed();
            if (isPrompt) {
                settle();
                findMissed();
            }
        }
        settle();
        findMissed();
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

    int marks() {
        return marks;
    }

    int deletions() {
        return deletions;
    }

    /** Returns how many reports of deletions the sessions got. */
    int reports() {
        return reports;
    }

    private void settle() {
        for (int i = 0; i < 2_000 && members.stream().anyMatch(Member::isBusy); i++) {
            for (Member one : members) {
                one.reachTheServer();
                one.hear();
                one.proceed();
            }
        }
        if (members.stream().anyMatch(Member::isBusy)) {
            wrong.add("requests without an end");
        }
    }

    private void findMissed() {
        List<QueueNode> queue = List.copyOf(nodes.values());
        for (QueueNode holder : queue.subList(0, PlainLine.holders(queue))) {
            if (members.stream().anyMatch(it -> Boolean.FALSE.equals(it.own.get(holder)))) {
                wrong.add("the claim waits for ever:  " + holder + " in " + nodes.values());
            }
        }
    }

    /** The server deletes an empty queue at any time. */
    private void reap() {
        if (nodes.isEmpty() && isThere) {
            isThere = false;
            nextNumber = 0;
            queueWatchedBy.forEach(it -> it.answer(it.known::isMissing));
            namesWatchedBy.clear();
            queueWatchedBy.clear();
        }
    }

    private void delete(QueueNode node) {
        nodes.remove(node.sequence());
        Set<Member> watching = watches.getOrDefault(node.name(), Set.of());
        Set<Member> told = new HashSet<>(namesWatchedBy);
        told.addAll(watching);
        deletions++;
        reports += told.size();
        watches.remove(node.name());
        watching.forEach(it -> it.answer(() -> {
            boolean unused = it.known.gone(node.name());
        }));
        reportNames();
    }

    private void reportNames() {
        List<Member> watching = List.copyOf(namesWatchedBy);
        namesWatchedBy.clear();
        watching.forEach(it -> it.answer(it.known::namesChanged));
    }

    private void mark(QueueNode node) {
        if (nodes.containsKey(node.sequence()) && marked.add(node.name())) {
            marks++;
            Set<Member> watching = watches.remove(node.name());
            if (watching != null) {
                watching.forEach(it -> it.answer(() -> it.known.notWatching(node)));
            }
        }
    }

    /** One session. */
    private final class Member {

        private final int session;
        private final LockQueue<QueueNode> known = new LockQueue<>();
        private final Deque<Runnable> requests = new ArrayDeque<>();
        private final Deque<Runnable> answers = new ArrayDeque<>();
        private final Map<QueueNode, Boolean> own = new LinkedHashMap<>(); // whether it holds
        private final Set<QueueNode> ended = new HashSet<>();
        private final Set<QueueNode> stood = new HashSet<>();

        Member(int session) {
            this.session = session;
        }

        boolean isBusy() {
            return !requests.isEmpty() || !answers.isEmpty();
        }

        void answer(Runnable with) {
            answers.add(with);
        }

        void reachTheServer() {
            if (!requests.isEmpty()) {
                requests.removeFirst().run();
            }
        }

        void hear() {
            if (!answers.isEmpty()) {
                answers.removeFirst().run();
            }
        }

        private QueueNode create(String kind) {
            isThere = true;
            QueueNode node = QueueNode.parse("%x_%s_%x_%010d".formatted(++ids, kind, session, nextNumber++));
            nodes.put(node.sequence(), node);
            reportNames();
            return node;
        }

        void enter() {
            String kind = kinds.get();
            if (known.mayBegin(random.nextBoolean())) {
                known.entering();
                requests.add(() -> begin(kind));
                return;
            }
            QueueNode newcomer = QueueNode.parse("new_" + kind + "_1_2147483646");
            boolean isListed = !known.mayDoWithoutList(newcomer) || random.nextInt(10) == 0;
            boolean isGuarded = known.wantsGuard();
            QueueNode[] created = {null};
            known.entering();
            requests.add(() -> create(kind, created));
            if (isListed) {
                int asked = known.namesAsked();
                requests.add(() -> answerToTheNewcomer(asked, created));
            }
            if (isGuarded) {
                known.guardAsked();
                requests.add(() -> {
                    if (isThere) {
                        queueWatchedBy.add(this);
                        answer(known::guarded);
                    }
                });
            }
        }

        private void begin(String kind) {
            QueueNode node = isThere ? null : create(kind);
            answer(() -> {
                known.enteringAnswered();
                known.isThere();
                if (node != null) {
                    own.put(node, false);
                    known.begun(node, node);
                }
            });
        }

        private void create(String kind, QueueNode[] created) {
            QueueNode node = isThere ? create(kind) : null;
            answer(() -> {
                known.enteringAnswered();
                created[0] = node;
                if (node == null) {
                    known.isMissing();
                } else {
                    own.put(node, false);
                    known.isThere();
                    known.entered(node, node);
                }
            });
        }

        private void answerToTheNewcomer(int asked, QueueNode[] created) {
            List<String> names = names();
            answer(() -> {
                QueueNode node = created[0];
                if (node == null) {
                    known.namesNotRead();
                    return;
                }
                if (names.size() > node.permits()
                        || names.stream().anyMatch(it -> QueueNode.sequenceOf(it) > node.sequence())) {
                    stood.add(node);
                }
                read(asked, node.sequence(), names);
            });
        }

        private List<String> names() {
            lists++;
            return nodes.values().stream().map(QueueNode::name).toList();
        }

        private void read(int asked, int upTo, List<String> names) {
            known.namesRead(asked, upTo, QueueNode.parseUpTo(upTo, names))
                    .forEach(it -> wrong.add("wrongly reported as deleted:  " + it));
        }

        private void list() {
            int asked = known.namesAsked();
            int upTo = known.lastNumber();
            boolean isWatched = known.watchesNames();
            requests.add(() -> {
                List<String> names = names();
                if (isWatched) {
                    namesWatchedBy.add(this);
                }
                boolean isReadElsewhere = random.nextInt(4) == 0;
                answer(() -> {
                    if (isWatched) {
                        known.namesWatched();
                    }
                    stood.addAll(own.keySet());
                    if (isReadElsewhere) {
                        answer(() -> read(asked, upTo, names));
                    } else {
                        read(asked, upTo, names);
                    }
                });
            });
        }

        /** The claim ends at once. The server deletes its node later. */
        void leave() {
            List<QueueNode> all = List.copyOf(own.keySet());
            if (!all.isEmpty()) {
                QueueNode node = all.get(random.nextInt(all.size()));
                own.remove(node);
                ended.add(node);
                known.leaves(node);
                requests.add(() -> {
                    delete(node);
                    answer(() -> {
                        boolean unused = known.gone(node.name());
                    });
                });
            }
        }

        /** Delivers the messages under way first. Later events are lost, and the queue is deleted unnoticed if it is empty. */
        void reconnect() {
            while (isBusy()) {
                reachTheServer();
                hear();
            }
            watches.values().forEach(it -> it.remove(this));
            namesWatchedBy.remove(this);
            queueWatchedBy.remove(this);
            known.forgetAll();
        }

        /** Does what the session does by itself. */
        void proceed() {
            for (QueueNode first : known.first()) {
                grants++;
                known.holds(first);
                own.put(first, true);
                judge(first);
                if (known.owesMark(first, stood.contains(first))) {
                    requests.add(() -> mark(first));
                }
            }
            own.forEach((node, holds) -> {
                if (!holds) {
                    stood.add(node);
                }
            });
            QueueNeed need = known.need();
            if (need instanceof QueueNeed.Watch watch) {
                known.watching(watch.node());
                requests.add(() -> watch(watch.node()));
            } else if (need instanceof QueueNeed.Names && !known.isReading()) {
                list();
            }
        }

        private void watch(QueueNode node) {
            if (!node.equals(nodes.get(node.sequence()))) {
                answer(() -> {
                    boolean unused = known.gone(node.name());
                });
                return;
            }
            watches.computeIfAbsent(node.name(), it -> new LinkedHashSet<>()).add(this);
            if (marked.contains(node.name())) {
                answer(() -> known.isHeld(node));
            }
        }

        /** Other clients see the nodes of this session until they are deleted. Its own claims do not wait for those that have ended. */
        private void judge(QueueNode granted) {
            List<QueueNode> front = nodes.values().stream()
                    .filter(it -> it.sequence() < granted.sequence() && !ended.contains(it))
                    .toList();
            if (!PlainLine.fits(front, granted)) {
                wrong.add("%s holds behind %s".formatted(granted, front));
            }
            if (known.position(granted) != LockQueue.Position.FIRST) {
                wrong.add("held in the session but not on the server:  " + granted);
            }
        }
    }
}
