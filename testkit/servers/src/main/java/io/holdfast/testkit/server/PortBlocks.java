package io.holdfast.testkit.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Shares ports between the JVMs of a user in blocks. A JVM locks a file for each block that it takes, and keeps it until
 * it ends. The system unlocks the files of a JVM that is killed.
 */
final class PortBlocks {

    /** The number of ports in a block. */
    static final int PORTS = 100;

    private static final int COUNT = 100;

    private final Path folder;

    /**
     * The open files by the numbers of their blocks. On Linux a process loses its lock of a file when it closes any
     * channel of that file, so no file of this map may be opened again.
     */
    private final Map<Integer, FileChannel> taken = new HashMap<>();

    PortBlocks(Path folder) {
        this.folder = folder;
    }

    static PortBlocks ofThisUser() {
        return new PortBlocks(
                Path.of(System.getProperty("java.io.tmpdir"), "holdfast-ports-" + System.getProperty("user.name")));
    }

    /**
     * Takes a block that no other JVM has. The blocks come in an arbitrary order, so that a port is not used again soon
     * after the end of a JVM, whose servers may still end.
     *
     * @return its number, from 0 to 99
     * @throws IllegalStateException if all blocks are taken
     */
    int take() {
        List<Integer> blocks = new ArrayList<>(IntStream.range(0, COUNT).boxed().toList());
        Collections.shuffle(blocks);
        try {
            Files.createDirectories(folder);
            for (int block : blocks) {
                if (!taken.containsKey(block) && lock(block)) {
                    return block;
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("no lock file for ports in " + folder, e);
        }
        throw new IllegalStateException(
                "no free port: this JVM and others have taken all %d blocks of ports, see the locks in %s"
                        .formatted(COUNT, folder));
    }

    private boolean lock(int block) throws IOException {
        FileChannel file = FileChannel.open(
                folder.resolve(Integer.toString(block)), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        if (file.tryLock() == null) {
            file.close();
            return false;
        }
        taken.put(block, file);
        return true;
    }
}
