package io.holdfast.examples.orders;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Netty's own integration does not name this place: when event loops meet in the allocator, it makes room for one more under a
 * lock, a few times in the life of a process. A blocking call found there would cut the connection.
 */
public final class NettyAllocatorIntegration implements BlockHoundIntegration {

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder.allowBlockingCallsInside(
                "io.netty.buffer.AdaptivePoolingAllocator$MagazineGroup", "tryExpandMagazines");
    }
}
