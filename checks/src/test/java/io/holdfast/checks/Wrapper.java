package io.holdfast.checks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs another build with the Maven of this build. */
final class Wrapper {

    private Wrapper() {}

    /** Runs Maven in a folder, with the libraries of this build. It installs and downloads into {@code repository} in that folder. */
    static void build(Path folder, String... arguments) throws Exception {
        copy(folder);
        List<String> command = new ArrayList<>();
        command.add(folder.resolve("mvnw").toString());
        command.addAll(List.of("-B", "-ntp", "-q"));
        command.add("-Dmaven.repo.local=" + folder.resolve("repository"));
        command.add("-Dmaven.repo.local.tail=" + localRepository());
        command.addAll(List.of(arguments));
        // For seconds of work, the second compiler of the JVM costs more than it gives.
        Map<String, String> brief = Map.of("MAVEN_OPTS", "-XX:TieredStopAtLevel=1");
        String unused = Command.run(folder, brief, command.toArray(String[]::new));
    }

    private static void copy(Path to) throws IOException {
        for (String name : List.of("mvnw", ".mvn/wrapper/maven-wrapper.properties")) {
            Files.createDirectories(to.resolve(name).getParent());
            Files.copy(Repository.ROOT.resolve(name), to.resolve(name), StandardCopyOption.COPY_ATTRIBUTES);
        }
    }

    /** Returns the local repository of this build, so that the other build need not download its libraries. */
    private static Path localRepository() {
        return Dependency.of(Repository.published().get(0)).get(0).repository();
    }
}
