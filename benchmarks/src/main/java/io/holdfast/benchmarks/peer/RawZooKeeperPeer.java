package io.holdfast.benchmarks.peer;

import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import reactor.core.publisher.Mono;

/** Creates a node and lists the queue, sent back to back, and then deletes the node. It assumes that no other client comes. */
final class RawZooKeeperPeer implements Peer {

    private static final String ROOT = "/raw";
    private static final byte[] NO_DATA = {};

    private final CuratorSession session;
    private final ZooKeeper handle;

    RawZooKeeperPeer(CuratorSession session) {
        this.session = session;
        try {
            handle = session.client().getZookeeperClient().getZooKeeper();
        } catch (Exception e) {
            throw new IllegalStateException("no handle", e);
        }
    }

    @Override
    public void prepare(String lock) {
        for (String path : new String[] {ROOT, folder(lock)}) {
            try {
                String unused = handle.create(path, NO_DATA, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            } catch (KeeperException.NodeExistsException fromBefore) {
                // That is as good.
            } catch (KeeperException e) {
                throw new IllegalStateException("cannot create " + path, e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted while creating " + path, e);
            }
        }
    }

    @Override
    public Mono<Void> cycle(String lock, Mono<Void> whileHolding) {
        return Mono.fromCompletionStage(() -> {
            CompletableFuture<String> node = new CompletableFuture<>();
            CompletableFuture<String> listed = new CompletableFuture<>();
            handle.create(
                    folder(lock) + "/lock-",
                    NO_DATA,
                    Ids.OPEN_ACL_UNSAFE,
                    CreateMode.EPHEMERAL_SEQUENTIAL,
                    (code, path, context, name, stat) -> complete(node, code, path, name),
                    null);
            handle.getChildren(
                    folder(lock), false, (code, path, context, children) -> complete(listed, code, path, path), null);
            return listed.thenCompose(nothing -> whileHolding.toFuture())
                    .thenCombine(node, (nothing, name) -> name)
                    .thenCompose(this::delete)
                    .thenAccept(path -> {});
        });
    }

    private CompletableFuture<String> delete(String name) {
        CompletableFuture<String> deleted = new CompletableFuture<>();
        handle.delete(name, -1, (code, path, context) -> complete(deleted, code, path, path), null);
        return deleted;
    }

    private static String folder(String lock) {
        return ROOT + "/" + lock;
    }

    private static <T> void complete(CompletableFuture<T> future, int code, String path, T value) {
        if (code == Code.OK.intValue()) {
            future.complete(value);
        } else {
            future.completeExceptionally(KeeperException.create(Code.get(code), path));
        }
    }

    @Override
    public void close() {
        session.close();
    }
}
