package io.holdfast.zookeeper.internal.client;

import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ZKConfig;

/**
 * How many places one queue may have. A claim that enters a queue lists it. When an answer is too long, the driver drops its connection
 * with all requests that are under way: when it is longer than {@code jute.maxbuffer} (ClientCnxnSocket.readLength, 3.9.5).
 *
 * @param places the holder and the waiters of all clients
 * @param bufferBytes the longest answer that the client accepts
 * @param isOfTheBuffer true if the buffer sets the limit, false if the user does
 */
public record QueueLimit(int places, int bufferBytes, boolean isOfTheBuffer) {

    /** The bytes of an answer without the names. */
    private static final int HEAD_BYTES = 64;

    /**
     * The name of a claim's node has 63 characters usually, 75 at most, and its length takes four more bytes. The rest is room for claims
     * that enter at the same moment, each before it sees the others: see {@code AdmissionWindow}.
     */
    private static final int BYTES_A_PLACE = 80;

    /** The user sets no limit: as many as fit into the buffer. */
    public static final int OF_THE_BUFFER = 0;

    /**
     * Returns the smaller of the user's limit and the buffer's limit.
     *
     * @param handle the client with the buffer
     * @param maxWaiters the user's limit, or {@link #OF_THE_BUFFER}
     */
    public static QueueLimit of(ZooKeeper handle, int maxWaiters) {
        int buffer = bufferBytes(handle);
        int fit = placesIn(buffer);
        boolean isOfTheBuffer = maxWaiters == OF_THE_BUFFER || maxWaiters >= fit;
        return new QueueLimit(isOfTheBuffer ? fit : maxWaiters + 1, buffer, isOfTheBuffer);
    }

    /** Whether a list of so many names surely fits. */
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

    /** Reads the setting in the same way as the driver. */
    private static int bufferBytes(ZooKeeper handle) {
        return handle.getClientConfig()
                .getInt(ZKConfig.JUTE_MAXBUFFER, ZKClientConfig.CLIENT_MAX_PACKET_LENGTH_DEFAULT);
    }
}
