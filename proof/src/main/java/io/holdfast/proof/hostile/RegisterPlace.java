package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.RedisServer;

/**
 * Where the registers of a campaign are.
 *
 * @param uri what clients open
 * @param end ends what was started for them
 */
record RegisterPlace(String uri, Runnable end) implements AutoCloseable {

    /** In the store of the locks itself, or else in a Redis that no fault concerns. */
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
