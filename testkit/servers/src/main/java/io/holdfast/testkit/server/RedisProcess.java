package io.holdfast.testkit.server;

import java.util.OptionalLong;

/** A server that can be started again on its port. */
interface RedisProcess extends AutoCloseable {

    String host();

    int port();

    OptionalLong pid();

    /** Starts the server and waits until it answers. */
    void start();

    /** Kills the server, if it runs. */
    void stop();

    void pause();

    void resume();

    /** Kills the server and removes its files. */
    @Override
    void close();
}
