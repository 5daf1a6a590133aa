package io.holdfast.testkit.server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Finds ports for servers that need a fixed port. The ports are 10 000 to 19 999. Systems use higher ports for outgoing
 * connections (from 32 768 on Linux, from 49 152 elsewhere, RFC 6335). Tests open thousands of those, and one could
 * take the port of a server that is about to start or to restart. With 10 000 added for the bus of a Redis Cluster, the
 * ports are still below.
 */
public final class FreePorts {

    private static final int LOWEST = 10_000;
    private static final int COUNT = 10_000;
    private static final int TRIES = 1_000;

    /** The ports that this JVM has used; none is used again, because its server may not have bound it yet. */
    private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();

    private FreePorts() {}

    /**
     * Finds a port of 127.0.0.1 without a listener.
     *
     * @return a new port each time; another process may still take it, which is unlikely
     * @throws IllegalStateException if there is no free port
     */
    public static int next() {
        for (int i = 0; i < TRIES; i++) {
            int port = LOWEST + ThreadLocalRandom.current().nextInt(COUNT);
            if (GIVEN.add(port) && isFree(port)) {
                return port;
            }
        }
        throw new IllegalStateException(
                "no free port from %d to %d after %d tries".formatted(LOWEST, LOWEST + COUNT - 1, TRIES));
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException taken) {
            return false;
        }
    }
}
