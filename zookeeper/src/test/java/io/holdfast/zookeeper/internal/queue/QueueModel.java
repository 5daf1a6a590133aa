package io.holdfast.zookeeper.internal.queue;

import io.holdfast.zookeeper.internal.queue.QueuePosition.AtTheHead;
import io.holdfast.zookeeper.internal.queue.QueuePosition.Behind;
import io.holdfast.zookeeper.internal.queue.QueuePosition.Holder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/**
 * A model of a queue with one-shot watches, and clients that read only when they are woken. Holders and waiters arrive and leave at random.
 * Each event is processed before the next one. So if a client holds by the names but does not know it, it has missed its hand-off.
 */
final class QueueModel {

    private static final String QUEUE = "the queue itself";

    private final Random random;
    private final String kinds;
    private final Map<Integer, String> nodes = new TreeMap<>();
    private final Map<String, String> watches = new HashMap<>(); // the watched node of each client
    private final Set<String> holders = new HashSet<>();
    private final Set<String> marked = new HashSet<>();
    private final List<String> missed = new ArrayList<>();
    private int next;
    private int mostWoken;
    private int mostReaders;

    QueueModel(Random random, String kinds) {
        this.random = random;
        this.kinds = kinds;
    }

    void run() {
        for (int step = 0; step < 40; step++) {
            if (nodes.isEmpty() || random.nextInt(5) < 3) {
                arrive();
            } else {
                List<Integer> there = List.copyOf(nodes.keySet());
                leave(there.get(random.nextInt(there.size())));
            }
            mostReaders = Math.max(mostReaders, readers());
            findMissed();
        }
    }

    List<String> missed() {
        return missed;
    }

    int mostWoken() {
        return mostWoken;
    }

    /**
     * The readers behind one writer are woken together, which is the hand-off to all of them. If a semaphore's waiter leaves from the
     * middle, that wakes the waiter behind it and the waiter at the head.
     */
    int bound() {
        return switch (kinds) {
            case "MUTEX" -> 1;
            case "READ_WRITE" -> Math.max(1, mostReaders);
            default -> 2;
        };
    }

    private int readers() {
        return (int)
                nodes.values().stream().filter(name -> name.contains("_r1_")).count();
    }

    private String mark() {
        return switch (kinds) {
            case "MUTEX" -> "m1";
            case "READ_WRITE" -> random.nextBoolean() ? "r1" : "w1";
            default -> permits(1 + random.nextInt(4));
        };
    }

    private String permits(int permits) {
        int taken = 1 + random.nextInt(permits);
        return taken == 1 ? "s" + permits : "s" + permits + "-" + taken;
    }

    private void arrive() {
        int sequence = next++;
        String name = "c%d_%s_1_%010d".formatted(sequence, mark(), sequence);
        nodes.put(sequence, name);
        wake(QUEUE);
        settle(name);
    }

    private void leave(int sequence) {
        String name = nodes.remove(sequence);
        holders.remove(name);
        watches.remove(name);
        marked.remove(name);
        List<String> woken = new ArrayList<>(watching(name));
        woken.addAll(watching(QUEUE));
        mostWoken = Math.max(mostWoken, woken.size());
        woken.forEach(watches::remove);
        woken.forEach(this::settle);
    }

    private void wake(String path) {
        List<String> woken = watching(path);
        woken.forEach(watches::remove);
        woken.forEach(this::settle);
    }

    private List<String> watching(String path) {
        return watches.entrySet().stream()
                .filter(watch -> watch.getValue().equals(path))
                .map(Map.Entry::getKey)
                .toList();
    }

    private void settle(String name) {
        QueuePosition standing = QueuePosition.of(nodes.values(), QueueNode.parse(name));
        if (standing instanceof Holder holder) {
            boolean isNew = holders.add(name);
            if (isNew && holder.isFollowed() && marked.add(name)) {
                wake(name);
            }
        } else if (standing instanceof Behind behind) {
            watches.put(name, behind.name());
        } else if (standing instanceof AtTheHead) {
            watches.put(name, QUEUE);
        }
    }

    private void findMissed() {
        List<QueueNode> queue = PlainQueuePosition.inOrder(nodes.values());
        for (QueueNode node : queue) {
            if (QueuePosition.of(nodes.values(), node) instanceof Holder && !holders.contains(node.name())) {
                missed.add(node.name());
            }
        }
    }

    @Override
    public String toString() {
        return nodes.values() + " held by " + holders + ", watches " + watches;
    }
}
