package io.holdfast.testkit.server;

/** A real database server of its own on a free port. Its methods block, and may be called from any thread, one at a time. */
public interface SqlServer extends AutoCloseable {

    /** Starts it again, with the data that it has. */
    void start();

    /** Stops it in order. */
    void stop();

    /** Stops it as a crash does: the next start recovers. */
    void crash();

    /**
     * The server's host.
     *
     * @return an address
     */
    String host();

    /**
     * The server's port, the same after a restart.
     *
     * @return a port of {@link #host}
     */
    int port();

    /**
     * What it has written down since it was made.
     *
     * @return its log, or why that cannot be read
     */
    String log();

    /** Ends it and removes its data. */
    @Override
    void close();
}
