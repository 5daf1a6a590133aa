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
 * <p>{@link PortBlocks} gives other JVMs other ports: two builds at the same time would otherwise now and then start two
 * servers at one port.
 */
public final class FreePorts {

    private static final PortBlocks BLOCKS = new PortBlocks(10_000, 100, 100);

    /** The next port to try; guarded by this class. */
    private static int next = 1;

    /** The end of the block that this JVM has taken last; guarded by this class. */
    private static int last;

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
            if (next > last) {
                PortBlocks.Block block = BLOCKS.take();
                next = block.first();
                last = block.last();
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
