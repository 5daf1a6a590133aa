package io.holdfast.spring;

import io.holdfast.etcd.EtcdLockBackend;

/**
 * Changes the back end in etcd before it is made, for settings without a property: {@code maxWaiters}. Define it as a bean. Several beans
 * are called in their order.
 */
@FunctionalInterface
public interface EtcdLockBackendCustomizer {

    /**
     * Changes the settings of the properties.
     *
     * @param builder the builder with the settings of the properties
     * @return the same builder
     */
    EtcdLockBackend.Builder customize(EtcdLockBackend.Builder builder);
}
