package io.holdfast.testkit.server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Shares ports between JVMs in blocks. A JVM listens at the first port of each block that it takes, until it ends: that
 * keeps the other JVMs away, and leaves no file behind.
 */
final class PortBlocks {

    private final int lowest;
    private final int count;
    private final int size;
    private final List<ServerSocket> guards = new ArrayList<>();

    /**
     * Shares this many blocks, one after the other.
     *
     * @param size the ports of a block, with the first one
     */
    PortBlocks(int lowest, int count, int size) {
        this.lowest = lowest;
        this.count = count;
        this.size = size;
    }

    /** The ports of a block without the first one. */
    record Block(int first, int last) {}

    /**
     * Takes a block that no JVM has. The blocks come in an arbitrary order, so that a port is not used again soon after
     * the end of a JVM, whose servers may still end.
     *
     * @throws IllegalStateException if all blocks are taken
     */
    Block take() {
        List<Integer> firsts = new ArrayList<>(
                IntStream.range(0, count).map(i -> lowest + i * size).boxed().toList());
        Collections.shuffle(firsts);
        for (int first : firsts) {
            try {
                guards.add(new ServerSocket(first, 1, InetAddress.getLoopbackAddress()));
                return new Block(first + 1, first + size - 1);
            } catch (IOException taken) {
                // By another JVM, or by this one.
            }
        }
        throw new IllegalStateException(
                "no free port from %d to %d: this process and others have taken all blocks of %d"
                        .formatted(lowest, lowest + count * size - 1, size));
    }
}
