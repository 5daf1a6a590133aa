package io.holdfast.zookeeper.internal.client;

import io.holdfast.spi.LockClaim;
import java.nio.charset.StandardCharsets;

/**
 * The data of a claim's node: a letter that says whether the claim is known to hold the lock, or to be a reader that was a writer, and the label of its owner. The label is not in the
 * name: the names of a queue are listed by all that enter, and their bytes limit its length.
 */
public final class NodeData {

    private static final char WAITS = 'w';
    private static final char HOLDS = 'h';
    private static final char READS = 'r';

    private NodeData() {}

    /** Of a new node. */
    static byte[] entering(LockClaim claim) {
        return of(WAITS, claim);
    }

    /** Of the node of a claim that holds the lock. */
    static byte[] holding(LockClaim claim) {
        return of(HOLDS, claim);
    }

    /** Of the node of a writer that has become a reader. Its name stays that of a writer. */
    static byte[] reading(LockClaim claim) {
        return of(READS, claim);
    }

    private static byte[] of(char letter, LockClaim claim) {
        return (letter + claim.owner()).getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Whether it is that of a node that was marked as a holder's. */
    public static boolean isOfAHolder(byte[] data) {
        return data.length > 0 && data[0] == HOLDS;
    }

    /** Whether it is that of a node that has the name of a writer, and is a reader's. */
    public static boolean isOfAReader(byte[] data) {
        return data.length > 0 && data[0] == READS;
    }

    /** The label; empty when there is none. */
    static String owner(byte[] data) {
        return data.length <= 1 ? "" : new String(data, 1, data.length - 1, StandardCharsets.ISO_8859_1);
    }
}
