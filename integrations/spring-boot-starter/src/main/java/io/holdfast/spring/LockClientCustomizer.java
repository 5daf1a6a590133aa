package io.holdfast.spring;

import io.holdfast.LockClient;

/**
 * Changes the client before it is made, where properties do not reach: the timer, where signals are delivered, back-off. A bean of the
 * application; several are asked in their order.
 *
 * <p>Options that are set here take the place of those of all properties, and a listener that of all {@code LockListener} beans, the meters
 * included: define it as a bean.
 */
@FunctionalInterface
public interface LockClientCustomizer {

    /**
     * Changes what the properties have set.
     *
     * @param builder has all that the properties say
     * @return the same builder
     */
    LockClient.Builder customize(LockClient.Builder builder);
}
