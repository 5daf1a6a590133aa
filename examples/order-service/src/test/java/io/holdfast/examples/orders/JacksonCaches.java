package io.holdfast.examples.orders;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/** Jackson makes what reads or writes a type once, under a lock: the first requests may meet there. */
public final class JacksonCaches implements BlockHoundIntegration {

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder.allowBlockingCallsInside(
                        "tools.jackson.databind.deser.DeserializerCache", "_createAndCacheValueDeserializer")
                .allowBlockingCallsInside(
                        "tools.jackson.databind.ser.SerializerCache", "addAndResolveNonTypedSerializer")
                .allowBlockingCallsInside("tools.jackson.databind.ser.SerializerCache", "addTypedSerializer");
    }
}
