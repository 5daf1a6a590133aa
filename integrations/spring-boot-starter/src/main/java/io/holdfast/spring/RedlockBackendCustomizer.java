package io.holdfast.spring;

import io.holdfast.redlock.RedlockBackend;

/**
 * Changes the Redlock before it is made, for settings without a property: {@code masterTimeLimit}, {@code names}, {@code listener}. Define
 * it as a bean. Several beans are called in their order.
 *
 * @see RedisLockBackendCustomizer for its masters
 */
@FunctionalInterface
public interface RedlockBackendCustomizer {

    /**
     * Changes the settings of the properties.
     *
     * @param builder the builder with the masters
     * @return the same builder
     */
    RedlockBackend.Builder customize(RedlockBackend.Builder builder);
}
