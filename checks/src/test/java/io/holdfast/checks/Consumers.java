package io.holdfast.checks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Applications outside of this build, one for each published module, in one build of their own. Their local repository has only the
 * jars and the poms that users get.
 *
 * @param folder the folder of the build
 * @param sources a pom for all applications, and a Main for each
 */
record Consumers(Path folder, Path sources) {

    void build() throws Exception {
        StringBuilder modules = new StringBuilder();
        for (PublishedModule module : Repository.published()) {
            install(module, folder);
            application(module.artifact());
            modules.append("<module>").append(module.artifact()).append("</module>");
        }
        Files.writeString(folder.resolve("pom.xml"), """
                <project><modelVersion>4.0.0</modelVersion>
                <groupId>com.example</groupId><artifactId>all</artifactId><version>1</version><packaging>pom</packaging>
                <modules>%s</modules></project>
                """.formatted(modules));
        Wrapper.build(folder, "-fae", "compile");
    }

    private void application(String artifact) throws IOException {
        Path application = Files.createDirectories(folder.resolve(artifact));
        Files.copy(sources.resolve(artifact).resolve("Main.java"), application.resolve("Main.java"));
        Pom ours = Repository.pom();
        Files.writeString(
                application.resolve("pom.xml"),
                Repository.read(sources.resolve("pom.xml"))
                        .replace("ARTIFACT", artifact)
                        .replace("HOLDFAST_VERSION", ours.required("version"))
                        .replace("ENFORCER_VERSION", ours.required("properties/maven-enforcer-plugin.version"))
                        .replace("COMPILER_VERSION", ours.required("properties/maven-compiler-plugin.version"))
                        .replace("DEPENDENCY_VERSION", ours.required("properties/maven-dependency-plugin.version")));
    }

    /** Puts the jar and the pom of a module into the local repository of the build in {@code folder}. */
    static void install(PublishedModule module, Path folder) throws IOException {
        String version = Repository.pom().required("version");
        Path place = Files.createDirectories(
                folder.resolve(Path.of("repository", "io", "holdfast", module.artifact(), version)));
        String name = module.artifact() + "-" + version;
        Files.copy(module.jar(), place.resolve(name + ".jar"));
        Files.copy(module.path().resolve("target/flattened-pom.xml"), place.resolve(name + ".pom"));
    }
}
