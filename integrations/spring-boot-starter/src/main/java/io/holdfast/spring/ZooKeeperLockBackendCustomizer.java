package io.holdfast.spring;

import io.holdfast.zookeeper.ZooKeeperLockBackend;

/**
 * Changes the back end in ZooKeeper before it is made, for settings without a property: {@code maxWaiters}, {@code failFast}. Define it as
 * a bean. Several beans are called in their order.
 */
@FunctionalInterface
public interface ZooKeeperLockBackendCustomizer {

    /**
     * Changes the settings of the properties.
     *
     * @param builder the builder with the settings of the properties
     * @return the same builder
     */
    ZooKeeperLockBackend.Builder customize(ZooKeeperLockBackend.Builder builder);
}
