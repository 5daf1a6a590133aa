package io.holdfast.testkit.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** Deletes the directories of servers that have ended. */
final class TemporaryFiles {

    private TemporaryFiles() {}

    /**
     * Deletes a directory with its contents. A file that cannot be deleted stays in the directory for temporary files.
     */
    static void delete(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            // The system deletes it later.
        }
    }
}
