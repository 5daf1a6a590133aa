package io.holdfast.checks;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A library that comes with a module at run time.
 *
 * @param optional whether only the application can add it
 */
record Dependency(String group, String artifact, String version, Path jar, boolean optional) {

    private static final Pattern LINE = Pattern.compile(
            "\\s+(?<group>[^:\\s]+):(?<artifact>[^:]+):jar:(?:[^:]+:)??(?<version>[^:]+):(?:compile|runtime):"
                    + "(?<jar>/?.+?\\.jar)(?<optional> \\(optional\\))?(?: -- .*)?");

    /** Reads the list of the build. */
    static List<Dependency> of(PublishedModule module) {
        String list = Repository.read(module.path().resolve("target/run-time-dependencies.txt"));
        List<Dependency> found = LINE.matcher(list)
                .results()
                .map(it -> new Dependency(
                        it.group(1), it.group(2), it.group(3), Path.of(it.group(4)), it.group(5) != null))
                .toList();
        long lines = list.lines().filter(it -> it.contains(".jar")).count();
        if (found.size() != lines) {
            throw new AssertionError("not understood: " + list);
        }
        return found;
    }

    String name() {
        return group + ":" + artifact;
    }

    boolean isOurs() {
        return group.equals("io.holdfast");
    }

    /** Returns its file in Maven's local repository. */
    Path repository() {
        Path repository = jar;
        for (int level = 0; level < group.split("\\.", -1).length + 3; level++) {
            repository = repository.getParent();
        }
        return repository;
    }
}
