package io.holdfast.redis;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Allows a lock that Netty's own integration does not name: when event loops meet in the allocator, it makes room for
 * one more under a lock, a few times in the life of a process. BlockHound would cut the connection there.
 */
public final class NettyAllocatorIntegration implements BlockHoundIntegration {

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder.allowBlockingCallsInside(
                "io.netty.buffer.AdaptivePoolingAllocator$MagazineGroup", "tryExpandMagazines");
    }
}
