package io.holdfast.zookeeper.vertx;

import static java.util.Objects.requireNonNull;

import io.holdfast.zookeeper.ZooKeeperLockBackend;
import io.vertx.spi.cluster.zookeeper.ZookeeperClusterManager;

/**
 * Makes back ends on the session that a clustered Vert.x has anyway.
 *
 * <pre>{@code
 * LockClient locks = LockClient.create(ZooKeeperVertx.overVertx(clusterManager));
 * }</pre>
 *
 * <p>All that {@link ZooKeeperLockBackend} says of its client is true of the cluster manager's. When Vert.x is closed, its session ends,
 * and all locks on it are lost. Locks of Holdfast are under a root of their own, so they exclude none of the locks that Vert.x gives.
 */
public final class ZooKeeperVertx {

    private ZooKeeperVertx() {}

    /**
     * A back end with the defaults.
     *
     * @param manager of a Vert.x that has joined its cluster before the first lock is used: until then operations fail with a {@link
     *     io.holdfast.LockBackendException} that says so; stays the caller's
     * @return a back end that has not sent anything yet
     */
    public static ZooKeeperLockBackend overVertx(ZookeeperClusterManager manager) {
        return builder(manager).build();
    }

    /**
     * Starts with the defaults.
     *
     * @param manager as in {@link #overVertx}
     * @return a builder
     */
    public static ZooKeeperLockBackend.Builder builder(ZookeeperClusterManager manager) {
        requireNonNull(manager, "manager");
        return ZooKeeperLockBackend.builder(manager::getCuratorFramework);
    }
}
