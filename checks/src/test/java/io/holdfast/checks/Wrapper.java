package io.holdfast.checks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;

/** The Maven of this build, for another one. */
final class Wrapper {

    private Wrapper() {}

    static void copy(Path to) throws IOException {
        for (String name : List.of("mvnw", ".mvn/wrapper/maven-wrapper.properties")) {
            Files.createDirectories(to.resolve(name).getParent());
            Files.copy(Repository.ROOT.resolve(name), to.resolve(name), StandardCopyOption.COPY_ATTRIBUTES);
        }
    }

    /** Where this build has its libraries from, so that the other one need not download them. */
    static Path localRepository() {
        return Dependency.of(Repository.published().get(0)).get(0).repository();
    }
}
