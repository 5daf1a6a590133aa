package io.holdfast.checks;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.server.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The same service on each line of Spring Boot, whose dependency management chooses all versions: it starts, takes locks of a server, and
 * reports about them in the same way.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class EachSpringBootIT {

    private static final Path SOURCES = Repository.ROOT.resolve("checks/src/test/spring-boot");
    private static final String THREE = version("spring-boot-3.version");
    private static final String FOUR = version("spring-boot.version");
    private static final String MIXED = "mixed";
    private static final Pattern LETTUCE = Pattern.compile("[^:]*/lettuce-core-[^:]*");
    private static final Pattern TOKEN = Pattern.compile("[0-9]{10,}");

    @TempDir
    private static Path folder;

    private static RedisServer redis;
    private static Process three;
    private static Process four;
    private static Process mixed;

    @BeforeAll
    static void start() throws Exception {
        redis = RedisServer.start();
        for (PublishedModule module : Repository.published()) {
            Consumers.install(module, folder);
        }
        application(THREE);
        application(FOUR);
        Files.writeString(folder.resolve("pom.xml"), """
            <project><modelVersion>4.0.0</modelVersion>
            <groupId>com.example</groupId><artifactId>all</artifactId><version>1</version><packaging>pom</packaging>
            <modules><module>%s</module><module>%s</module></modules></project>
            """.formatted(THREE, FOUR));
        Wrapper.build(folder, "-T2", "compile");
        three = run(THREE, classPath(THREE), output(THREE));
        four = run(FOUR, classPath(FOUR), output(FOUR));
        mixed = run(THREE, LETTUCE.matcher(classPath(THREE)).replaceAll(lettuceOf(FOUR)), output(MIXED));
    }

    @AfterAll
    static void stop() throws Exception {
        redis.close();
    }

    static Stream<String> lines() {
        return Stream.of(THREE, FOUR);
    }

    @ParameterizedTest
    @MethodSource("lines")
    void aServiceTakesLocksAndReportsThem(String version) throws Exception {
        assertThat(reports(version))
                .contains(
                        "/sell held with token N",
                        "/actuator/health/holdfast {\"status\":\"UP\"}",
                        "works on holdfast-work-1",
                        "works with token N on main",
                        "meter holdfast.lock.held [tag(backend=redis), tag(lock.family=stock), tag(lock.kind=mutex)]")
                .anyMatch(it -> it.startsWith("meter holdfast.lock ["))
                .anyMatch(it -> it.startsWith("/actuator/holdfast {\"clients\":{\"holdfastLockClient\":"))
                .anyMatch(it -> it.startsWith("/actuator/holdfast?name=stock/42 {\"locks\":[{\"name\":\"stock/42\""));
        assertThat(Repository.read(output(version))).startsWith("Spring Boot " + version);
    }

    @Test
    void bothLinesReportTheSame() throws Exception {
        assertThat(reports(THREE)).isEqualTo(reports(FOUR));
    }

    /** As Gradle mixes them without a dependency management. */
    @Test
    void aDriverAndANettyThatDoNotFitAreRefusedAtTheStart() throws Exception {
        assertThat(mixed.waitFor()).isNotZero();
        assertThat(Repository.read(output(MIXED)))
                .contains("do not fit together")
                .contains("Lettuce 7")
                .contains("Netty 4.1.");
    }

    /** Waits for the end of the service, and returns what it printed about locks. */
    private static List<String> reports(String version) throws Exception {
        int status = (version.equals(THREE) ? three : four).waitFor();
        String printed = Repository.read(output(version));
        assertThat(status).as(printed).isZero();
        return TOKEN.matcher(printed)
                .replaceAll("N")
                .lines()
                .filter(it -> it.matches("(/|meter |works ).*"))
                .toList();
    }

    private static void application(String version) throws IOException {
        Path application = Files.createDirectories(folder.resolve(version));
        Path resources = Files.createDirectories(application.resolve("target/classes"));
        Files.copy(SOURCES.resolve("Main.java"), application.resolve("Main.java"));
        Files.copy(SOURCES.resolve("application.properties"), resources.resolve("application.properties"));
        Pom ours = Repository.pom();
        Files.writeString(
                application.resolve("pom.xml"),
                Repository.read(SOURCES.resolve("pom.xml"))
                        .replace("SPRING_BOOT_VERSION", version)
                        .replace("HOLDFAST_VERSION", ours.required("version"))
                        .replace("COMPILER_VERSION", ours.required("properties/maven-compiler-plugin.version"))
                        .replace("DEPENDENCY_VERSION", ours.required("properties/maven-dependency-plugin.version")));
    }

    private static Process run(String version, String classPath, Path output) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of("-cp", "target/classes:" + classPath, "Main", "--spring.data.redis.url=" + redis.uri()));
        command.add("--holdfast.redis.key-prefix=" + output.getFileName() + ":"); // they run at the same time
        return new ProcessBuilder(command)
                .directory(folder.resolve(version).toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
    }

    private static String lettuceOf(String version) {
        return LETTUCE.matcher(classPath(version))
                .results()
                .findFirst()
                .orElseThrow()
                .group();
    }

    private static Path output(String version) {
        return folder.resolve(version + ".txt");
    }

    private static String classPath(String version) {
        return Repository.read(folder.resolve(version).resolve("class-path.txt"));
    }

    private static String version(String property) {
        return Repository.pom().required("properties/" + property);
    }
}
