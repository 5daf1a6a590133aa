package io.holdfast.checks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;

/** A published module: its folder below the root, and its pom. */
record PublishedModule(String folder, Pom pom) {

    String artifact() {
        return pom.required("artifactId");
    }

    Path path() {
        return Repository.ROOT.resolve(folder);
    }

    Path jar() {
        return jar("");
    }

    Path jar(String classifier) {
        String version = Repository.pom().required("version");
        return path().resolve("target").resolve(artifact() + "-" + version + classifier + ".jar");
    }

    /** Returns the entries of the jar in their order. */
    List<ZipEntry> entries() {
        return entries(jar());
    }

    static List<ZipEntry> entries(Path jar) {
        try (JarFile file = new JarFile(jar.toFile())) {
            return file.stream().map(it -> new ZipEntry(it)).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(jar + " is missing: run `./mvnw verify`", e);
        }
    }

    /** Loads every class of the jar, without initialisation. */
    List<Class<?>> classes() {
        return entries().stream()
                .map(ZipEntry::getName)
                .filter(name -> name.endsWith(".class") && !name.endsWith("-info.class"))
                .map(name ->
                        name.substring(0, name.length() - ".class".length()).replace('/', '.'))
                .<Class<?>>map(PublishedModule::load)
                .sorted(Comparator.comparing(Class::getName))
                .toList();
    }

    private static Class<?> load(String name) {
        try {
            return Class.forName(name, false, PublishedModule.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public String toString() {
        return artifact();
    }
}
