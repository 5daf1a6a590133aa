package io.holdfast.zookeeper.internal.client;

import io.holdfast.spi.LockClaim;
import java.nio.charset.StandardCharsets;
import org.apache.zookeeper.data.Stat;

/**
 * The data of a claim's node: a letter and the label of its owner. The letter says whether the claim is known to hold the lock, or is a
 * reader that was a writer. The label is not part of the name, because each claim that enters lists the names of a queue, and their bytes
 * limit its length.
 */
final class NodeData {

    static final char WAITS = 'w';
    static final char HOLDS = 'h';
    static final char READS = 'r';

    private NodeData() {}

    static byte[] of(char letter, LockClaim claim) {
        return (letter + claim.owner()).getBytes(StandardCharsets.ISO_8859_1);
    }

    static AsyncZooKeeper.Content content(byte[] data, Stat stat) {
        char letter = data.length == 0 ? WAITS : (char) data[0];
        String owner = data.length <= 1 ? "" : new String(data, 1, data.length - 1, StandardCharsets.ISO_8859_1);
        return new AsyncZooKeeper.Content(owner, stat.getCzxid(), stat.getCtime(), letter == READS, letter == HOLDS);
    }
}
