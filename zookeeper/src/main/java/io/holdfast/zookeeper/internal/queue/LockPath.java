package io.holdfast.zookeeper.internal.queue;

import io.holdfast.LockKind;
import io.holdfast.spi.LockKey;
import java.util.ArrayList;
import java.util.List;

/**
 * The node that contains the queue of a lock, {@code <namespace>/<root>/<kind>/<encoded name>}. Both sides of a read/write lock share one
 * queue.
 *
 * @param path with the namespace of the Curator client, without its chroot
 */
public record LockPath(String path) {

    public static LockPath of(String root, LockKey key) {
        return new LockPath(ofAll(root, key.kind()) + '/' + NodeNames.encode(key.name()));
    }

    /** Returns the node that contains all locks of a kind. */
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

    /** Returns the nodes above the queue, from the top. */
    public List<String> fromTheTop() {
        List<String> nodes = new ArrayList<>();
        for (int slash = path.indexOf('/', 1); slash > 0; slash = path.indexOf('/', slash + 1)) {
            nodes.add(path.substring(0, slash));
        }
        return nodes;
    }
}
