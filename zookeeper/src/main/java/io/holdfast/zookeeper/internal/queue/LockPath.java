package io.holdfast.zookeeper.internal.queue;

import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import java.util.ArrayList;
import java.util.List;

/**
 * The node under which a lock's queue is, {@code <namespace>/<root>/<kind>/<encoded name>}. The two sides of a read/write lock have one
 * queue.
 *
 * @param path as the server knows it, without a namespace of Curator's on top
 */
public record LockPath(String path) {

    public static LockPath of(String root, LockKey key) {
        return new LockPath(ofAll(root, key.kind()) + '/' + NodeNames.encode(key.name()));
    }

    /** The node under which all locks of a kind are. */
    public static String ofAll(String root, LockKind kind) {
        return switch (kind) {
            case MUTEX -> root + "/mutex";
            case READ, WRITE -> root + "/rw";
            case SEMAPHORE -> root + "/semaphore";
        };
    }

    public String of(String node) {
        return path + '/' + node;
    }

    /** The nodes that have to be there for the queue to be, from the top, itself included. */
    public List<String> fromTheTop() {
        List<String> nodes = new ArrayList<>();
        for (int slash = path.indexOf('/', 1); slash > 0; slash = path.indexOf('/', slash + 1)) {
            nodes.add(path.substring(0, slash));
        }
        nodes.add(path);
        return nodes;
    }
}
