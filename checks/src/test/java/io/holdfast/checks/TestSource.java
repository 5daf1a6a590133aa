package io.holdfast.checks;

import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A file of src/test/java or src/test/kotlin, and the tests in it, by its text. */
record TestSource(Path file, String text) {

    private static final Pattern TEST =
            Pattern.compile("@(Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate)\\b");
    private static final Pattern CONTRACT = Pattern.compile("\\b(implements|extends) LockBackendContract\\b");
    private static final Pattern NOT_RUN_ITSELF = Pattern.compile("(?m)^(public )?(abstract class|interface) ");

    private static final Pattern FOLDER = Pattern.compile("/src/test/(java|kotlin)/");
    private static final Pattern END = Pattern.compile("\\.(java|kt)$");

    static List<TestSource> all() {
        return Stream.concat(Repository.files(".java").stream(), Repository.files(".kt").stream())
                .filter(file -> FOLDER.matcher(file.toString()).find())
                .map(file -> new TestSource(file, Repository.read(file)))
                .toList();
    }

    /** A class that another class extends runs with that class. */
    boolean hasTests() {
        boolean any = TEST.matcher(text).find() || isContract();
        return any && !NOT_RUN_ITSELF.matcher(text).find();
    }

    boolean isContract() {
        return CONTRACT.matcher(text).find();
    }

    /** Returns whether a test plugin with these comma-separated patterns runs it. The patterns match classes of each language. */
    boolean matches(String patterns) {
        Path ofJava = Path.of(END.matcher(file.toString()).replaceFirst(".java"));
        return Stream.of(patterns.split(",", -1))
                .map(pattern -> FileSystems.getDefault().getPathMatcher("glob:" + pattern.strip()))
                .anyMatch(matcher -> matcher.matches(ofJava));
    }

    String name() {
        return END.matcher(file.getFileName().toString()).replaceFirst("");
    }

    /** Returns the folder of its module, from the root. */
    String module() {
        String path = Repository.ROOT.relativize(file).toString();
        return FOLDER.split(path, -1)[0];
    }
}
