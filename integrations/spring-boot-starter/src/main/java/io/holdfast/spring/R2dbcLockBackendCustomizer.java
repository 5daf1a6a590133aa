package io.holdfast.spring;

import io.holdfast.r2dbc.R2dbcLockBackend;

/**
 * Changes the back end in the database before it is made, for settings without a property: {@code address}, {@code timer}. Define it as a
 * bean. Several beans are called in their order.
 */
@FunctionalInterface
public interface R2dbcLockBackendCustomizer {

    /**
     * Changes the settings of the properties.
     *
     * @param builder the builder with the settings of the properties
     * @return the same builder
     */
    R2dbcLockBackend.Builder customize(R2dbcLockBackend.Builder builder);
}
