package io.holdfast.checks;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.server.RedisServer;
import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * An application that depends on one artifact, by its published pom only: its libraries converge, Netty has one version, and the
 * application acquires a lock.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class EachArtifactAloneIT {

    private static final Path SOURCES = Repository.ROOT.resolve("checks/src/test/consumers");
    private static final Pattern NETTY = Pattern.compile("/io/netty/netty-[^/]+/([^/]+)/");

    @TempDir
    private static Path folder;

    private static final String NEEDS_A_DRIVER = "holdfast-r2dbc";

    private static RedisServer redis;
    private static TestingServer zooKeeper;

    @BeforeAll
    static void build() throws Exception {
        redis = RedisServer.start();
        zooKeeper = new TestingServer();
        new Consumers(folder, SOURCES).build();
    }

    @AfterAll
    static void stop() throws Exception {
        redis.close();
        zooKeeper.close();
    }

    static Stream<String> artifacts() {
        return Repository.published().stream().map(PublishedModule::artifact);
    }

    static Stream<String> artifactsThatNeedNoDriver() {
        return artifacts().filter(artifact -> !artifact.equals(NEEDS_A_DRIVER));
    }

    @ParameterizedTest
    @MethodSource("artifactsThatNeedNoDriver")
    void takesALock(String artifact) throws Exception {
        assertThat(run(artifact)).contains("held with token ");
    }

    /** The JVM loads its classes without a driver. */
    @Test
    void theSqlModuleLeavesTheDriverToTheApplication() throws Exception {
        assertThat(classPath(NEEDS_A_DRIVER)).contains("r2dbc-spi").doesNotContain("postgresql", "netty");
        assertThat(run(NEEDS_A_DRIVER)).contains("no lock without a database: ").contains("stock/42");
    }

    @ParameterizedTest
    @MethodSource("artifacts")
    void hasOneVersionOfNetty(String artifact) {
        Set<String> versions = NETTY.matcher(classPath(artifact))
                .results()
                .map(it -> it.group(1))
                .collect(Collectors.toCollection(TreeSet::new));

        assertThat(versions).hasSizeLessThanOrEqualTo(1);
        assertThat(versions.isEmpty())
                .isNotEqualTo(
                        Set.of("holdfast-redis", "holdfast-vertx", "holdfast-zookeeper", "holdfast-zookeeper-vertx")
                                .contains(artifact));
    }

    /** If this project was installed in the local repository, that has more of its artifacts than a release. */
    @ParameterizedTest
    @MethodSource("artifacts")
    void hasNoUnpublishedArtifactOfThisProject(String artifact) {
        assertThat(classPath(artifact).split(File.pathSeparator, -1))
                .filteredOn(it -> it.contains("/io/holdfast/"))
                .isNotEmpty()
                .allMatch(it -> it.startsWith(folder.toString()));
    }

    /** ZooKeeper needs the Netty connection for TLS. */
    @Test
    void zooKeepersNettyConnectionWorks() throws Exception {
        assertThat(run("holdfast-zookeeper", "-Dzookeeper.clientCnxnSocket=org.apache.zookeeper.ClientCnxnSocketNetty"))
                .contains("held with token ");
    }

    /** A user of one module gets no library of another module. */
    @Test
    void noModuleBringsLibrariesOfOtherModules() {
        assertThat(classPath("holdfast-zookeeper"))
                .doesNotContain("/io/vertx/", "/guava/", "jackson", "netty-codec-http");
        assertThat(classPath("holdfast-testkit")).doesNotContain("testcontainers", "jedis", "embedded-redis");
    }

    private static String run(String artifact, String... options) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", "target/classes:" + classPath(artifact), "Main", server(artifact)));
        return Command.run(folder.resolve(artifact), Map.of(), command.toArray(String[]::new));
    }

    private static String server(String artifact) {
        return artifact.contains("zookeeper") ? zooKeeper.getConnectString() : redis.uri();
    }

    private static String classPath(String artifact) {
        return Repository.read(folder.resolve(artifact).resolve("class-path.txt"));
    }
}
