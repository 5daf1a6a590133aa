package io.holdfast.testkit.server;

import java.util.OptionalLong;

/** A server that can be started again on its port. */
interface RedisProcess extends AutoCloseable {

    String host();

    int port();

    OptionalLong pid();

    /** Starts it and waits until it answers. */
    void start();

    /** Kills it, if it runs. */
    void stop();

    void pause();

    void resume();

    /** Kills it and removes what it left. */
    @Override
    void close();
}
