package io.holdfast.proof.sim;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

/** The data on a server's disk: nodes and sessions after one transaction. */
final class ZooTree {

    /** A node. Immutable: a change makes another object. */
    record Node(long owner, long czxid, long changed, String data) {}

    /** Receives the changes of a transaction. */
    interface Observer {

        /** The watches of a node itself, of its children, or both. */
        void changed(EventType type, String path, boolean ofNode, boolean ofChildren);

        void sessionEnded(long session);
    }

    private final TreeMap<String, Node> nodes = new TreeMap<>();
    private final Map<String, Long> childChanges = new HashMap<>();

    /** The next number in each queue. */
    private final Map<String, Integer> numbers = new HashMap<>();

    private final Set<Long> sessions = new TreeSet<>();
    private final @Nullable Observer observer;
    private long zxid;

    ZooTree(@Nullable Observer observer) {
        this.observer = observer;
        nodes.put("/", new Node(0, 0, 0, ""));
    }

    void become(ZooTree other) {
        nodes.clear();
        nodes.putAll(other.nodes);
        childChanges.clear();
        childChanges.putAll(other.childChanges);
        numbers.clear();
        numbers.putAll(other.numbers);
        sessions.clear();
        sessions.addAll(other.sessions);
        zxid = other.zxid;
    }

    void apply(Transaction transaction) {
        zxid = transaction.zxid();
        transaction.change().accept(this);
    }

    /** The number of the last transaction. */
    long zxid() {
        return zxid;
    }

    /** Sets the number from which a new leader counts. */
    void beginsAt(long first) {
        zxid = first;
    }

    boolean has(String path) {
        return nodes.containsKey(path);
    }

    @Nullable
    Node get(String path) {
        return nodes.get(path);
    }

    long childrenChanged(String path) {
        return childChanges.getOrDefault(path, 0L);
    }

    int nextNumber(String queue) {
        return numbers.getOrDefault(queue, 0);
    }

    Set<Long> sessions() {
        return sessions;
    }

    List<String> children(String path) {
        String prefix = path.equals("/") ? "/" : path + '/';
        List<String> names = new ArrayList<>();
        for (String one : nodes.tailMap(prefix, false).keySet()) {
            if (!one.startsWith(prefix)) {
                break;
            }
            if (one.indexOf('/', prefix.length()) < 0) {
                names.add(one.substring(prefix.length()));
            }
        }
        return names;
    }

    List<String> ownedBy(long session) {
        List<String> owned = new ArrayList<>();
        nodes.forEach((path, node) -> {
            if (node.owner() == session) {
                owned.add(path);
            }
        });
        return owned;
    }

    /** Returns all nodes of a session, or of a queue. */
    List<String> ephemerals() {
        List<String> all = new ArrayList<>();
        nodes.forEach((path, node) -> {
            if (node.owner() != 0) {
                all.add(path);
            }
        });
        return all;
    }

    /** Returns the queues that had nodes and are empty now. */
    List<String> emptyQueues() {
        return numbers.keySet().stream()
                .filter(queue -> children(queue).isEmpty())
                .sorted()
                .toList();
    }

    void sessionBegun(long session) {
        sessions.add(session);
    }

    void sessionEnded(long session) {
        sessions.remove(session);
        if (observer != null) {
            observer.sessionEnded(session);
        }
    }

    void counted(String queue, int number) {
        numbers.put(queue, number + 1);
    }

    void put(String path, Node node) {
        nodes.put(path, node);
        changedIn(path);
    }

    void set(String path, Node node) {
        if (nodes.replace(path, node) != null) {
            tell(EventType.NodeDataChanged, path, true, false);
        }
    }

    void remove(String path) {
        numbers.remove(path);
        if (nodes.remove(path) != null) {
            tell(EventType.NodeDeleted, path, true, true);
            changedIn(path);
        }
    }

    private void changedIn(String path) {
        String parent = parentOf(path);
        childChanges.put(parent, zxid);
        tell(EventType.NodeChildrenChanged, parent, false, true);
    }

    private void tell(EventType type, String path, boolean ofNode, boolean ofChildren) {
        if (observer != null) {
            observer.changed(type, path, ofNode, ofChildren);
        }
    }

    static String parentOf(String path) {
        int slash = path.lastIndexOf('/');
        return slash == 0 ? "/" : path.substring(0, slash);
    }
}
