package io.holdfast.testkit.server;

/** A real database server on a free port. Its methods block, and may be called from any thread, one at a time. */
public interface SqlServer extends AutoCloseable {

    /** Starts the server again, with its data. */
    void start();

    /** Stops the server normally. */
    void stop();

    /** Stops the server like a crash: the next start recovers. */
    void crash();

    /**
     * Returns the server's host.
     *
     * @return an address
     */
    String host();

    /**
     * Returns the server's port, the same after a restart.
     *
     * @return a port of {@link #host}
     */
    int port();

    /**
     * Returns all that the server has logged since it was made.
     *
     * @return the log, or why it cannot be read
     */
    String log();

    /** Stops the server and removes its data. */
    @Override
    void close();
}
