package io.holdfast.testkit.server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for servers that have to be told theirs. From 10 000 to 19 999: below those that systems give to outgoing connections (from 32 768
 * on Linux, from 49 152 elsewhere, RFC 6335), of which tests open thousands, and which could take the port of a server that is about to
 * start, or that is to come back. With 10 000 more for the bus of a Redis Cluster, they are still below.
 */
public final class FreePorts {

    private static final int LOWEST = 10_000;
    private static final int COUNT = 10_000;
    private static final int TRIES = 1_000;

    /** Given out in this JVM, and never again: whoever has one may not have bound it yet. */
    private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();

    private FreePorts() {}

    /**
     * Finds a port of 127.0.0.1 that nobody listens at.
     *
     * @return another one each time; another process may take it still, which is not likely
     * @throws IllegalStateException if there is none
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
