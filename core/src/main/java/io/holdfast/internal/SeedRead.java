package io.holdfast.internal;

import io.holdfast.spi.OwnerLabel;
import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Tells BlockHound, where it is used, that a client may be made on an event loop, as a verticle does, and draws its next seeds there. {@link java.security.SecureRandom}
 * reads 24 bytes from {@code /dev/urandom}, which never waits once the system is up (random(4)); to BlockHound it is a file. So is the host name,
 * which {@link OwnerLabel} reads once from the memory of the kernel.
 */
public final class SeedRead implements BlockHoundIntegration {

    /** Made by BlockHound. */
    public SeedRead() {}

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder.allowBlockingCallsInside(Seed.class.getName(), "read");
        builder.allowBlockingCallsInside(OwnerLabel.class.getName(), "kernelHostName");
    }
}
