package io.holdfast.zookeeper.internal.client;

import io.holdfast.spi.LockClaim;
import java.nio.charset.StandardCharsets;

/**
 * The data of a claim's node: a letter that says whether the claim is known to hold the lock, and the label of its owner. The label is not in the
 * name: the names of a queue are listed by all that enter, and their bytes limit its length.
 */
public final class NodeData {

    private static final char WAITS = 'w';
    private static final char HOLDS = 'h';

    private NodeData() {}

    /** Of a new node. */
    static byte[] entering(LockClaim claim) {
        return of(WAITS, claim);
    }

    /** Of the node of a claim that holds the lock. */
    static byte[] holding(LockClaim claim) {
        return of(HOLDS, claim);
    }

    private static byte[] of(char letter, LockClaim claim) {
        return (letter + claim.owner()).getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Whether it is that of a node that was marked as a holder's. */
    public static boolean isOfAHolder(byte[] data) {
        return data.length > 0 && data[0] == HOLDS;
    }

    /** The label; empty when there is none. */
    static String owner(byte[] data) {
        return data.length <= 1 ? "" : new String(data, 1, data.length - 1, StandardCharsets.ISO_8859_1);
    }
}
