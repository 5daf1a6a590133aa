package io.holdfast.spring;

import io.holdfast.r2dbc.R2dbcLockBackend;

/**
 * Changes the back end in the database before it is made, where properties do not reach: {@code address}, {@code timer}. A bean of the
 * application; several are asked in their order.
 */
@FunctionalInterface
public interface R2dbcLockBackendCustomizer {

    /**
     * Changes what the properties have set.
     *
     * @param builder has all that the properties say
     * @return the same builder
     */
    R2dbcLockBackend.Builder customize(R2dbcLockBackend.Builder builder);
}
