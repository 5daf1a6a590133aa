package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.RedisServer;

/**
 * The registers of a campaign.
 *
 * @param uri the address for clients
 * @param end ends the servers of the registers
 */
record RegisterPlace(String uri, Runnable end) implements AutoCloseable {

    /** Opens the registers in the back end of the locks itself, or else in a Redis without faults. */
    static RegisterPlace of(Deployment deployment) {
        return deployment
                .register()
                .map(uri -> new RegisterPlace(uri, () -> {}))
                .orElseGet(() -> {
                    RedisServer redis = RedisServer.start();
                    return new RegisterPlace(redis.uri(), redis::close);
                });
    }

    @Override
    public void close() {
        end.run();
    }
}
