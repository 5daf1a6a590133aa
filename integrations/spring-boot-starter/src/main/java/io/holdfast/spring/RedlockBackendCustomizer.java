package io.holdfast.spring;

import io.holdfast.redlock.RedlockBackend;

/**
 * Changes the Redlock before it is made, where properties do not reach: {@code masterTimeLimit}, {@code names}, {@code listener}. A bean of
 * the application; several are asked in their order.
 *
 * @see RedisLockBackendCustomizer for its masters
 */
@FunctionalInterface
public interface RedlockBackendCustomizer {

    /**
     * Changes what the properties have set.
     *
     * @param builder has the masters
     * @return the same builder
     */
    RedlockBackend.Builder customize(RedlockBackend.Builder builder);
}
