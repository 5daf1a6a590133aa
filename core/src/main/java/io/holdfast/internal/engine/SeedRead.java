package io.holdfast.internal.engine;

import io.holdfast.spi.support.OwnerLabel;
import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Allows two reads to BlockHound, where it is used: an application may make a client on an event loop, as a verticle
 * does, and the client reads its next seeds there. {@link java.security.SecureRandom} reads 24 bytes from
 * {@code /dev/urandom}, which never blocks once the system is up (random(4)); for BlockHound it is a file. The host
 * name is a file for BlockHound, too: {@link OwnerLabel} reads it once from the memory of the kernel.
 */
public final class SeedRead implements BlockHoundIntegration {

    public SeedRead() {}

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder.allowBlockingCallsInside(Randomness.class.getName(), "readSeed");
        builder.allowBlockingCallsInside(OwnerLabel.class.getName(), "kernelHostName");
    }
}
