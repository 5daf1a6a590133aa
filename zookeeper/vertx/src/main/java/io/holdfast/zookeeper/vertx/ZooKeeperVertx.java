package io.holdfast.zookeeper.vertx;

import static java.util.Objects.requireNonNull;

import io.holdfast.zookeeper.ZooKeeperLockBackend;
import io.vertx.spi.cluster.zookeeper.ZookeeperClusterManager;

/**
 * Creates back ends that use the ZooKeeper session of a clustered Vert.x.
 *
 * <pre>{@code
 * LockClient locks = LockClient.create(ZooKeeperVertx.overVertx(clusterManager));
 * }</pre>
 *
 * <p>What {@link ZooKeeperLockBackend} says of its client is also true of the cluster manager's client. When Vert.x is closed, its session
 * ends, and all its locks are lost. Holdfast's locks have a root node of their own. So a lock of Holdfast and a lock of Vert.x with the
 * same name do not exclude each other.
 */
public final class ZooKeeperVertx {

    private ZooKeeperVertx() {}

    /**
     * Returns a back end with the defaults.
     *
     * @param manager the manager of a Vert.x that joins its cluster before the first lock is used. Until then operations fail with a {@link
     *     io.holdfast.LockBackendException} that says so. The back end never closes it
     * @return a back end that has not sent anything yet
     */
    public static ZooKeeperLockBackend overVertx(ZookeeperClusterManager manager) {
        return builder(manager).build();
    }

    /**
     * Returns a builder with the defaults.
     *
     * @param manager as in {@link #overVertx}
     * @return a builder
     */
    public static ZooKeeperLockBackend.Builder builder(ZookeeperClusterManager manager) {
        requireNonNull(manager, "manager");
        return ZooKeeperLockBackend.builder(manager::getCuratorFramework);
    }
}
