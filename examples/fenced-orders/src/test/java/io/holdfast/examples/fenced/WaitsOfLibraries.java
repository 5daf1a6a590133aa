package io.holdfast.examples.fenced;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/** Where libraries wait on an event loop for a moment, a few times in the life of a process. Found there, a wait would cut the connection. */
public final class WaitsOfLibraries implements BlockHoundIntegration {

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder
                // Spring reads schema.sql out of the jar, at the start.
                .allowBlockingCallsInside(
                        "org.springframework.core.io.buffer.DataBufferUtils$ReadableByteChannelGenerator", "accept")
                // When event loops meet in the allocator, it makes room for one more under a lock. Netty's own
                // integration does not name it.
                .allowBlockingCallsInside(
                        "io.netty.buffer.AdaptivePoolingAllocator$MagazineGroup", "tryExpandMagazines")
                // When the first bodies of a type come at one time, one of them makes what reads or writes them, under
                // a lock.
                .allowBlockingCallsInside(
                        "tools.jackson.databind.deser.DeserializerCache", "_createAndCacheValueDeserializer")
                .allowBlockingCallsInside(
                        "tools.jackson.databind.ser.SerializerCache", "addAndResolveNonTypedSerializer")
                .allowBlockingCallsInside("tools.jackson.databind.ser.SerializerCache", "addTypedSerializer");
    }
}
