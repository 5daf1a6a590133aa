package io.holdfast.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files of docs/guides/testing.md, compiled and run. */
class GuideTest {

    private static final Pattern FILE =
            Pattern.compile("`src/(?:main|test)/java/([^`]+)`:\n\n```java\n(.*?)```", Pattern.DOTALL);

    private final String page = Files.readString(Path.of("").toAbsolutePath().resolve("../docs/guides/testing.md"));

    @TempDir
    private Path folder;

    GuideTest() throws IOException {}

    @Test
    void theTestsOfTheGuidePass() throws Exception {
        List<Path> files = new ArrayList<>();
        for (MatchResult file : FILE.matcher(page).results().toList()) {
            Path path = folder.resolve(file.group(1));
            Files.createDirectories(path.getParent());
            files.add(Files.writeString(path, file.group(2)));
        }
        assertThat(files).hasSize(2);
        compile(files);

        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
            Ran ran = Ran.of(loader.loadClass("com.example.exports.ExportServiceTest"));

            assertThat(ran.results().values())
                    .allSatisfy(result -> assertThat(result.getThrowable()).isEmpty());
            assertThat(page)
                    .contains(
                            "It prints `Tests run: %d,".formatted(ran.results().size()));
        }
    }

    private void compile(List<Path> files) throws IOException {
        JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
        List<String> options =
                List.of("-proc:none", "-d", folder.toString(), "-cp", System.getProperty("java.class.path"));
        try (StandardJavaFileManager manager = javac.getStandardFileManager(null, null, null)) {
            boolean isCompiled = javac.getTask(
                            null, manager, null, options, null, manager.getJavaFileObjectsFromPaths(files))
                    .call();
            assertThat(isCompiled).isTrue();
        }
    }
}
