package io.holdfast.spring;

import io.holdfast.LockClient;

/**
 * Changes the client before it is made, for settings without a property: the timer, the scheduler of signals, back-off. Define it as a
 * bean. Several beans are called in their order.
 *
 * <p>Options that a customizer sets replace those of all properties. A listener that it sets is called after all {@code LockListener}
 * beans.
 */
@FunctionalInterface
public interface LockClientCustomizer {

    /**
     * Changes the settings of the properties.
     *
     * @param builder the builder with the settings of the properties
     * @return the same builder
     */
    LockClient.Builder customize(LockClient.Builder builder);
}
