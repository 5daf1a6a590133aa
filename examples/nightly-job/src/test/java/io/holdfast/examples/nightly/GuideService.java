package io.holdfast.examples.nightly;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/** The class {@code AccountService} of the guide to Vert.x, compiled from the page, in a JVM of its own. */
final class GuideService implements AutoCloseable {

    private static final Path GUIDE = Path.of("").toAbsolutePath().getParent().resolveSibling("docs/guides/vertx.md");
    private static final Pattern SERVICE = Pattern.compile(
            "^```java\n(package (\\S+);.*?^public final class AccountService .*?)^```$",
            Pattern.DOTALL | Pattern.MULTILINE);
    private static final String CLASS = "com.example.accounts.AccountService";

    private final Process process;
    private final int port;
    private final ProcessLines lines;

    private GuideService(Process process, int port) {
        this.process = process;
        this.port = port;
        this.lines = ProcessLines.of(process, "the service at port " + port);
    }

    static void compile(Path classes) throws IOException {
        Matcher block = SERVICE.matcher(Files.readString(GUIDE));
        assertThat(block.find()).as("the guide shows the service").isTrue();
        Path source = Files.writeString(classes.resolve("AccountService.java"), block.group(1));
        int result = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-proc:none", "-cp", classPath(), "-d", classes.toString(), source.toString());
        assertThat(result).as("it compiles").isZero();
    }

    static GuideService start(Path classes, int port, String... arguments) throws IOException {
        List<String> command = Stream.concat(
                        Stream.of(
                                Path.of(System.getProperty("java.home"), "bin", "java")
                                        .toString(),
                                "-XX:+UseSerialGC",
                                "-XX:TieredStopAtLevel=1",
                                "-Dport=" + port,
                                "-cp",
                                classes + File.pathSeparator + classPath(),
                                CLASS),
                        Stream.of(arguments))
                .toList();
        return new GuideService(
                new ProcessBuilder(command).redirectErrorStream(true).start(), port);
    }

    private static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }

    int port() {
        return port;
    }

    List<String> said() {
        return lines.all();
    }

    void awaitReady() throws InterruptedException {
        String ready = "ready: http://localhost:" + port;
        Town.until("the service is ready", () -> lines.any(ready::equals) || !process.isAlive());
        assertThat(process.isAlive()).as("it runs; it said %s", lines).isTrue();
    }

    /** Returns the exit code. */
    int awaitEnd() throws InterruptedException {
        assertThat(process.waitFor(30, TimeUnit.SECONDS))
                .as("it ends; it said %s", lines)
                .isTrue();
        return process.exitValue();
    }

    /** Ends it as Ctrl-C and most supervisors do, and returns the exit code. */
    int end() throws InterruptedException {
        process.destroy();
        return awaitEnd();
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
