package io.holdfast.spring;

import io.holdfast.redis.RedisLockBackend;

/**
 * Changes the back end in Redis before it is made, for settings without a property: {@code confirmGrants}, {@code lossByPush}, {@code
 * claimTime}. Define it as a bean. Several beans are called in their order.
 *
 * <p>With {@code holdfast.backend=redlock}, each bean is called once for every master.
 */
@FunctionalInterface
public interface RedisLockBackendCustomizer {

    /**
     * Changes the settings of the properties.
     *
     * @param builder the builder with the settings of the properties
     * @return the same builder
     */
    RedisLockBackend.Builder customize(RedisLockBackend.Builder builder);
}
