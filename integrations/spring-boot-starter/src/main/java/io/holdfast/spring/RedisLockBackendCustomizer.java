package io.holdfast.spring;

import io.holdfast.redis.RedisLockBackend;

/**
 * Changes the back end in Redis before it is made, where properties do not reach: {@code confirmGrants}, {@code lossByPush}, {@code
 * claimTime}. A bean of the application; several are asked in their order.
 *
 * <p>With {@code holdfast.backend=redlock}, each is asked once for every master.
 */
@FunctionalInterface
public interface RedisLockBackendCustomizer {

    /**
     * Changes what the properties have set.
     *
     * @param builder has all that the properties say
     * @return the same builder
     */
    RedisLockBackend.Builder customize(RedisLockBackend.Builder builder);
}
