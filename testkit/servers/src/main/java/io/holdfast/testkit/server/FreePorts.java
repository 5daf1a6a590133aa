package io.holdfast.testkit.server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/**
 * Finds ports for servers that need a fixed port. The ports are 10 000 to 19 999. Systems use higher ports for outgoing
 * connections (from 32 768 on Linux, from 49 152 elsewhere, RFC 6335). Tests open thousands of those, and one could
 * take the port of a server that is about to start or to restart. With 10 000 added for the bus of a Redis Cluster, the
 * ports are still below.
 *
 * <p>Other JVMs of the same user get other ports, {@link PortBlocks} says how: two builds at the same time would
 * otherwise now and then start two servers at one port.
 */
public final class FreePorts {

    private static final int LOWEST = 10_000;

    private static final PortBlocks BLOCKS = PortBlocks.ofThisUser();

    /** The next port to try; guarded by this class. */
    private static int next;

    /** The end of the last block that this JVM has taken; guarded by this class. */
    private static int end;

    private FreePorts() {}

    /**
     * Finds a port of 127.0.0.1 without a listener.
     *
     * @return a new port each time, since the server of an earlier one may not have bound it yet; a process that does
     *     not use this class may still take it
     * @throws IllegalStateException if there is no free port
     */
    public static synchronized int next() {
        while (true) {
            if (next == end) {
                next = LOWEST + BLOCKS.take() * PortBlocks.PORTS;
                end = next + PortBlocks.PORTS;
            }
            int port = next++;
            if (isFree(port)) {
                return port;
            }
        }
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException taken) {
            return false;
        }
    }
}
