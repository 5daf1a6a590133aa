package io.holdfast.spring;

import io.holdfast.zookeeper.ZooKeeperLockBackend;

/**
 * Changes the back end in ZooKeeper before it is made, where properties do not reach: {@code maxWaiters}, {@code failFast}. A bean of the
 * application; several are asked in their order.
 */
@FunctionalInterface
public interface ZooKeeperLockBackendCustomizer {

    /**
     * Changes what the properties have set.
     *
     * @param builder has all that the properties say
     * @return the same builder
     */
    ZooKeeperLockBackend.Builder customize(ZooKeeperLockBackend.Builder builder);
}
