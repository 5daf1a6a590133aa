package io.holdfast.examples.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.redis.RedisAddress;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.redlock.RedlockBackend;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockFeature;
import io.holdfast.zookeeper.ZooKeeperLockBackend;
import java.io.IOException;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.test.StepVerifier;

/** The ticks and versions in the README are those of the code and of the pom. */
class ReadmeFactsTest {

    @ParameterizedTest
    @CsvSource({
        "'Read/write lock, writer to reader', READ_WRITE",
        "'Read/write lock, writer to reader', DOWNGRADE",
        "'Semaphore, also many permits', SEMAPHORE",
        "'Semaphore, also many permits', MANY_PERMITS",
        "'First come, first served', FIFO",
        "'[Least hold time](docs/guides/recipes.md#once-per-period-in-a-cluster), after a crash too', MIN_HOLD",
        "'[A lease handed on](docs/guides/recipes.md#hand-a-lease-on)', HAND_ON"
    })
    void theTicksAreTheFeaturesOfTheBackEnds(String row, LockFeature feature) throws IOException {
        List<LockBackend> backends = backends();

        assertThat(cells(row).subList(1, 5))
                .isEqualTo(backends.stream()
                        .map(it -> it.features().contains(feature) ? "✓" : "–")
                        .toList());
        backends.forEach(it -> StepVerifier.create(it.close()).verifyComplete());
    }

    /** The back ends in the order of the columns. None of them connects. */
    private static List<LockBackend> backends() {
        return List.of(
                InMemoryLockBackend.create(),
                redis(),
                RedlockBackend.over(List.of(redis(), redis(), redis())),
                ZooKeeperLockBackend.over(CuratorFrameworkFactory.newClient("localhost:1", new RetryOneTime(1))));
    }

    private static RedisLockBackend redis() {
        return RedisLockBackend.create(RedisAddress.parse("redis://localhost:1"));
    }

    @ParameterizedTest
    @CsvSource({
        "ZooKeeper, zookeeper",
        "ZooKeeper, curator",
        "'Reactor, Lettuce', reactor",
        "'Reactor, Lettuce', lettuce",
        "'Spring Boot', spring-boot",
        "'Vert.x, Micrometer', vertx",
        "'Vert.x, Micrometer', micrometer"
    })
    void theVersionsAreThoseOfTheBuild(String row, String library) throws IOException {
        assertThat(Pattern.compile("\\d+\\.\\d+\\.\\d+")
                        .matcher(cells(row).get(1))
                        .results()
                        .map(MatchResult::group))
                .contains(element(library + ".version").replace(".RELEASE", ""));
    }

    @ParameterizedTest
    @CsvSource({
        "docs/start/redis.md",
        "docs/start/redlock.md",
        "docs/start/zookeeper.md",
        "docs/start/memory.md",
        "README.md"
    })
    void thePagesNameTheVersionsOfTheBuild(String page) throws IOException {
        String ours = element("version");
        String text = StartPages.text(page);

        assertThat(text).contains("<version>" + ours + "</version>", ":" + ours + "\"");
        if (text.contains("slf4j-simple")) {
            String theirs = element("slf4j.version");
            assertThat(text).contains("<version>" + theirs + "</version>", "slf4j-simple:" + theirs + "\"");
        }
    }

    private static List<String> cells(String first) throws IOException {
        return rows().filter(it -> it.get(0).equals(first)).findFirst().orElseThrow();
    }

    private static Stream<List<String>> rows() throws IOException {
        return StartPages.text("README.md")
                .lines()
                .filter(line -> line.startsWith("| "))
                .map(line -> Stream.of(line.split("\\|", -1)).map(String::strip).toList())
                .map(cells -> cells.subList(1, cells.size() - 1));
    }

    /** Returns the first property of that name in the parent pom. */
    private static String element(String name) throws IOException {
        return Pattern.compile("<" + Pattern.quote(name) + ">([^<]+)</")
                .matcher(StartPages.text("pom.xml"))
                .results()
                .map(it -> it.group(1))
                .findFirst()
                .orElseThrow();
    }
}
