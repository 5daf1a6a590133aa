package io.holdfast.examples.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Backoff;
import io.holdfast.InMemoryLockBackend;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** What the README shows is what is compiled, and does what it says. */
class ReadmeTest {

    private static final Path EXAMPLES = Path.of("").toAbsolutePath();

    private static String readme;

    @BeforeAll
    static void read() throws IOException {
        readme = Files.readString(EXAMPLES.resolveSibling("README.md"));
    }

    @Test
    void theTenLinesAreTheCompiledOnes() throws IOException {
        assertThat(blocks("java")).first().isEqualTo(compiled("QuickStart"));
    }

    @Test
    void theLinesAboutRedlockAreTheCompiledOnes() throws IOException {
        assertThat(blocks("java")).contains(compiled("FiveMasters"));
    }

    @Test
    void theLinesAboutMetricsAreTheCompiledOnes() throws IOException {
        assertThat(blocks("java")).contains(compiled("Metered"));
    }

    @Test
    void theMetersAreThoseOfTheTable() {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        LockClient locks = Metered.over(InMemoryLockBackend.create(), meters, ObservationRegistry.create());
        StepVerifier.create(locks.lock("stock/42").withLock(Mono.just(1)))
                .expectNext(1)
                .verifyComplete();
        StepVerifier.create(locks.close()).verifyComplete();

        assertThat(rowsOfMeters().keySet())
                .isEqualTo(meters.getMeters().stream()
                        .map(meter -> meter.getId().getName())
                        .collect(Collectors.toSet()));
        for (Meter meter : meters.getMeters()) {
            String row = rowsOfMeters().get(meter.getId().getName());
            assertThat(row).contains("| " + meter.getId().getType().name().toLowerCase(Locale.ROOT) + " |");
            meter.getId().getTags().stream()
                    .filter(tag -> !Set.of("backend", "lock.family").contains(tag.getKey()))
                    .forEach(tag -> assertThat(row).contains("`" + tag.getKey() + "`", "`" + tag.getValue() + "`"));
        }
    }

    private static Map<String, String> rowsOfMeters() {
        return readme.lines()
                .filter(line -> line.startsWith("| `holdfast.lock."))
                .collect(Collectors.toMap(line -> line.split("`", -1)[1], line -> line));
    }

    private static String compiled(String name) throws IOException {
        Path source = EXAMPLES.resolve("src/main/java/io/holdfast/examples/quickstart/" + name + ".java");
        String lines = between(Files.readString(source), "        // README: begin\n", "        // README: end\n");
        return lines.stripTrailing().stripIndent() + "\n";
    }

    @Test
    void aFormerOwnerWritesNothingOnceTheNextOneHasRead() throws SQLException {
        try (Connection database = DriverManager.getConnection("jdbc:h2:mem:")) {
            execute(database, "create table stock (item int primary key, amount int, token bigint)");
            execute(database, "insert into stock values (42, 100, 0)");

            assertThat(read(database, 7)).hasValue(100);
            assertThat(write(database, 99, 7)).isOne();
            assertThat(write(database, 98, 7)).as("the same lease writes again").isOne();
            assertThat(read(database, 8)).as("the next owner").hasValue(98);
            assertThat(write(database, 50, 7)).as("a former owner").isZero();
            assertThat(read(database, 7)).as("a former owner").isEmpty();
            assertThat(write(database, 97, 8)).isOne();
            assertThat(read(database, 9)).hasValue(97);
        }
    }

    private static OptionalInt read(Connection database, long token) throws SQLException {
        try (PreparedStatement leave = database.prepareStatement(statement(0, token));
                PreparedStatement look = database.prepareStatement(statement(1, token))) {
            if (leave.executeUpdate() == 0) {
                return OptionalInt.empty();
            }
            ResultSet row = look.executeQuery();
            assertThat(row.next()).isTrue();
            return OptionalInt.of(row.getInt(1));
        }
    }

    private static int write(Connection database, int amount, long token) throws SQLException {
        String sql = statement(2, token).replace(":amount", Integer.toString(amount));
        try (PreparedStatement update = database.prepareStatement(sql)) {
            return update.executeUpdate();
        }
    }

    private static String statement(int index, long token) {
        return block("sql")
                .split(";", -1)[index]
                .replace(":token", Long.toString(token))
                .replace(":item", "42");
    }

    private static void execute(Connection database, String sql) throws SQLException {
        try (Statement statement = database.createStatement()) {
            statement.execute(sql);
        }
    }

    @Test
    void theDefaultsAreThoseOfTheTable() {
        LockOptions defaults = LockOptions.defaults();

        assertThat(defaultOf("leaseDuration"))
                .isEqualTo(defaults.leaseDuration().toSeconds() + " s");
        assertThat(defaultOf("waitTimeout")).isEqualTo("none");
        assertThat(defaults.waitTimeout()).isEmpty();
        assertThat(defaultOf("autoRenew")).isEqualTo(Boolean.toString(defaults.autoRenew()));
        assertThat(defaultOf("maxHoldTime")).isEqualTo("none");
        assertThat(defaults.maxHoldTime()).isEmpty();
        assertThat(defaultOf("backoff")).isEqualTo("20 ms doubling to 1 s, jitter 0.5");
        assertThat(defaults.backoff())
                .isEqualTo(Backoff.exponential(Duration.ofMillis(20), Duration.ofSeconds(1))
                        .withJitter(0.5));
        assertThat(defaultOf("reentrant")).isEqualTo(Boolean.toString(defaults.reentrant()));
    }

    private static String defaultOf(String option) {
        return readme.lines()
                .filter(line -> line.startsWith("| `" + option + "` |"))
                .map(line -> line.split("\\|", -1)[2].strip())
                .findFirst()
                .orElseThrow(() -> new AssertionError("no option " + option + " in the README"));
    }

    private static String block(String language) {
        return blocks(language).get(0);
    }

    private static List<String> blocks(String language) {
        Matcher matcher =
                Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL).matcher(readme);
        List<String> blocks = matcher.results().map(it -> it.group(1)).toList();
        assertThat(blocks).as("blocks of %s in the README", language).isNotEmpty();
        return blocks;
    }

    private static String between(String text, String begin, String end) {
        return text.substring(text.indexOf(begin) + begin.length(), text.indexOf(end));
    }
}
