package io.holdfast.testkit.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Reports the servers on which the tests of this build did not run, and how to provide them. The build prints these
 * lines at its end, in a module that names the antrun plugin.
 */
public final class LeftOut {

    /**
     * The system property that names a directory for the lines, one file for each: {@value}. Without it the lines are
     * only printed.
     */
    public static final String DIRECTORY = "holdfast.left-out";

    private LeftOut() {}

    /**
     * Reports a server.
     *
     * @param what the server, for example {@code mysql:8.4}
     * @param why the reason, and how to provide it, in one line
     */
    public static void tell(String what, String why) {
        String line = "[holdfast] left out: %s. Why: %s".formatted(what, why);
        System.out.println(line);
        String directory = System.getProperty(DIRECTORY);
        if (directory != null) {
            try {
                Path file = Files.createDirectories(Path.of(directory)).resolve(what.replaceAll("[^\\w.-]+", "-"));
                Path unused = Files.writeString(file, line + System.lineSeparator());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
