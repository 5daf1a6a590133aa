package io.holdfast.redlock;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/** The places where the driver waits, for a short time. */
public final class DriverWaits implements BlockHoundIntegration {

    @Override
    public void applyTo(BlockHound.Builder builder) {
        // Connections of several clients that are made for the first time at one moment meet at a lock of the whole
        // JVM, under which the driver lists the methods of its commands. An error there would leave the attempt that
        // needs the channel unanswered.
        builder.allowBlockingCallsInside("io.lettuce.core.internal.AbstractInvocationHandler$MethodTranslator", "of");
        // A thread that writes meets the event loop that takes the connection up or down. An error there would leave
        // the driver's count of writers one too low, and its event loop spinning for ever; see the class of this name
        // among the tests of Redis.
        builder.allowBlockingCallsInside("io.lettuce.core.protocol.SharedLock", "incrementWriters");
        builder.allowBlockingCallsInside("io.lettuce.core.protocol.SharedLock", "doExclusive");
    }
}
