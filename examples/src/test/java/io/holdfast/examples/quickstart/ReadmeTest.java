package io.holdfast.examples.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The README is short, and its SQL statements do what it says. */
class ReadmeTest {

    private static final String README = "README.md";

    private static String statements;

    @BeforeAll
    static void read() throws IOException {
        statements = StartPages.blocks(README, "sql").get(0);
    }

    @Test
    void theReadmeCanBeReadInFiveMinutes() throws IOException {
        assertThat(StartPages.text(README).getBytes(StandardCharsets.UTF_8).length)
                .isLessThanOrEqualTo(10_240);
    }

    @Test
    void theFirstScreensHaveTheTwoCommands() throws IOException {
        assertThat(StartPages.text(README).lines().limit(70).collect(Collectors.joining("\n")))
                .contains("Run the tests:\n\n```\n./mvnw -B -ntp verify\n```")
                .contains("See [the demo](#the-demo), on Linux or macOS:\n\n```\n./examples/flash-sale\n```");
    }

    @Test
    void aFormerOwnerWritesNothingAfterTheNextOwnerHasRead() throws SQLException {
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
                PreparedStatement read = database.prepareStatement(statement(1, token))) {
            if (leave.executeUpdate() == 0) {
                return OptionalInt.empty();
            }
            ResultSet row = read.executeQuery();
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
        return statements
                .split(";", -1)[index]
                .replace(":token", Long.toString(token))
                .replace(":item", "42");
    }

    private static void execute(Connection database, String sql) throws SQLException {
        try (Statement statement = database.createStatement()) {
            statement.execute(sql);
        }
    }
}
