package io.holdfast.redlock;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Where the driver waits. The first time that connections of several clients are made at one moment, they meet at a lock of the whole JVM,
 * under which the driver lists the methods of its commands. An error there would leave the look that needs the channel unanswered.
 */
public final class DriverWaits implements BlockHoundIntegration {

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder.allowBlockingCallsInside("io.lettuce.core.internal.AbstractInvocationHandler$MethodTranslator", "of");
    }
}
