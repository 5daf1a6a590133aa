package io.holdfast.examples.orders;

import reactor.blockhound.BlockHound;
import reactor.blockhound.BlockingOperationError;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Allows libraries to wait on an event loop for a moment, a few times in the life of a process. BlockHound would cut the connection otherwise, and the server may say
 * nothing about it: so each other wait is printed.
 */
public final class WaitsOfLibraries implements BlockHoundIntegration {

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder
                // When several event loops allocate at once, the allocator adds an arena under a lock. Netty's own
                // integration does not list this call.
                .allowBlockingCallsInside(
                        "io.netty.buffer.AdaptivePoolingAllocator$MagazineGroup", "tryExpandMagazines")
                // When the first bodies of a type arrive at once, one thread makes their reader or writer, under
                // a lock.
                .allowBlockingCallsInside(
                        "tools.jackson.databind.deser.DeserializerCache", "_createAndCacheValueDeserializer")
                .allowBlockingCallsInside(
                        "tools.jackson.databind.ser.SerializerCache", "addAndResolveNonTypedSerializer")
                .allowBlockingCallsInside("tools.jackson.databind.ser.SerializerCache", "addTypedSerializer")
                .blockingMethodCallback(method -> {
                    BlockingOperationError error = new BlockingOperationError(method);
                    error.printStackTrace();
                    throw error;
                });
    }
}
