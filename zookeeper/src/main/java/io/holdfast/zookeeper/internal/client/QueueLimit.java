package io.holdfast.zookeeper.internal.client;

import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ZKConfig;

/**
 * How many places one queue may have. A claim that enters a queue lists it, and the driver gives up its connection, with all that is under
 * way, when an answer is longer than {@code jute.maxbuffer} (ClientCnxnSocket.readLength, 3.9.5).
 *
 * @param places the holder and the waiters, of all clients
 * @param bufferBytes what the client takes in one answer
 * @param isOfTheBuffer whether the buffer is what limits it, and not the user
 */
public record QueueLimit(int places, int bufferBytes, boolean isOfTheBuffer) {

    /** Of all but the names. */
    private static final int HEAD_BYTES = 64;

    /**
     * The name of a claim's node has 63 characters usually, 75 at most, and its length takes four more bytes. The rest is room for those that enter at
     * the same moment, each before it sees the others: see {@code AdmissionWindow}.
     */
    private static final int BYTES_A_PLACE = 80;

    /** Without a wish: as many as the buffer takes. */
    public static final int OF_THE_BUFFER = 0;

    /**
     * The lesser of what the user and the buffer say.
     *
     * @param handle whose buffer
     * @param maxWaiters what the user says, or {@link #OF_THE_BUFFER}
     */
    public static QueueLimit of(ZooKeeper handle, int maxWaiters) {
        int buffer = bufferBytes(handle);
        int fit = placesIn(buffer);
        boolean isOfTheBuffer = maxWaiters == OF_THE_BUFFER || maxWaiters >= fit;
        return new QueueLimit(isOfTheBuffer ? fit : maxWaiters + 1, buffer, isOfTheBuffer);
    }

    /** Whether a list of so many surely fits. */
    static boolean fits(ZooKeeper handle, int places) {
        return places <= placesIn(bufferBytes(handle));
    }

    /** One place is the holder's. */
    int waiters() {
        return places - 1;
    }

    private static int placesIn(int bufferBytes) {
        return Math.max(2, (bufferBytes - HEAD_BYTES) / BYTES_A_PLACE);
    }

    /** As the driver reads it. */
    private static int bufferBytes(ZooKeeper handle) {
        return handle.getClientConfig()
                .getInt(ZKConfig.JUTE_MAXBUFFER, ZKClientConfig.CLIENT_MAX_PACKET_LENGTH_DEFAULT);
    }
}
