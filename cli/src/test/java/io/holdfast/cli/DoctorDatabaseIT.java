package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.r2dbc.R2dbcLockBackend;
import io.holdfast.testkit.server.MariaDbServer;
import io.holdfast.testkit.server.PgBouncer;
import io.holdfast.testkit.server.PostgresServer;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryOptions;
import io.r2dbc.spi.Result;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

/** Each check of the doctor, on databases that are fit and on databases that are made to fail it. */
class DoctorDatabaseIT {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static PostgresServer postgres;
    private static MariaDbServer mariaDb;

    @BeforeAll
    static void start() {
        postgres = PostgresServer.run();
        mariaDb = MariaDbServer.run();
        run(postgresAddress(postgres.port()), PostgresServer.USER, file("postgresql"));
        statements(file("mariadb")).forEach(sql -> run(mariaDbAddress(), MariaDbServer.USER, sql));
    }

    @AfterAll
    static void stop() {
        postgres.close();
        mariaDb.close();
    }

    private static String postgresAddress(int port) {
        return "r2dbc:postgresql://127.0.0.1:%d/%s".formatted(port, PostgresServer.DATABASE);
    }

    private static String mariaDbAddress() {
        return "r2dbc:mariadb://127.0.0.1:%d/%s".formatted(mariaDb.port(), MariaDbServer.DATABASE);
    }

    private static Examined postgresAs(String user) {
        return Examined.at(postgresAddress(postgres.port()), Map.of("HOLDFAST_USER", user));
    }

    private static Examined mariaDbAs(String user) {
        return Examined.at(mariaDbAddress(), Map.of("HOLDFAST_USER", user));
    }

    private static String file(String database) {
        try (InputStream schema = R2dbcLockBackend.class.getResourceAsStream(
                "/io/holdfast/r2dbc/%s/holdfast-1.sql".formatted(database))) {
            return new String(Objects.requireNonNull(schema).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Splits a file as the clients of the servers do. */
    private static List<String> statements(String file) {
        List<String> statements = new ArrayList<>();
        StringBuilder open = new StringBuilder();
        String delimiter = ";";
        for (String line : file.lines().toList()) {
            if (line.startsWith("delimiter ")) {
                delimiter = line.substring("delimiter ".length());
            } else if (line.endsWith(delimiter)) {
                statements.add(open + line.substring(0, line.length() - delimiter.length()));
                open.setLength(0);
            } else {
                open.append(line).append('\n');
            }
        }
        return statements;
    }

    @CanIgnoreReturnValue
    private static String run(String address, String user, String sql) {
        ConnectionFactory connections = ConnectionFactories.get(ConnectionFactoryOptions.parse(address)
                .mutate()
                .option(ConnectionFactoryOptions.USER, user)
                .build());
        return String.valueOf(Flux.usingWhen(
                        connections.create(),
                        open -> Flux.<Result>from(open.createBatch().add(sql).execute())
                                .concatMap(result -> result.map(row -> String.valueOf(row.get(0)))),
                        Connection::close)
                .blockLast(PATIENCE));
    }

    @Test
    void fitPostgresWorksAndKeepsNothing() {
        Examined fit = postgresAs(PostgresServer.USER);

        assertThat(fit.code()).as(fit.out()).isZero();
        assertThat(fit.line("schema")).isEqualTo("works         schema: versions [1]");
        assertThat(fit.line("LISTEN and NOTIFY")).startsWith("works");
        assertThat(fit.line("replication")).startsWith("does not work").contains("0 replicas");
        assertThat(run(
                        postgresAddress(postgres.port()),
                        PostgresServer.USER,
                        "select count(*) from holdfast_lock where name like 'doctor-%'"))
                .isEqualTo("0");
    }

    @Test
    void userWithoutRightsIsToldSo() {
        run(postgresAddress(postgres.port()), PostgresServer.USER, "create user stranger");
        Examined stranger = postgresAs("stranger");

        assertThat(stranger.line("rights"))
                .startsWith("does not work")
                .contains("permission denied for table holdfast_lock");
        assertThat(stranger.line("schema")).startsWith("does not work").contains("permission denied");
        assertThat(stranger.code()).isOne();
    }

    @Test
    void missingOrOlderSchemaIsNamed() {
        String address = postgresAddress(postgres.port());
        run(address, PostgresServer.USER, "create schema older");
        run(address, PostgresServer.USER, "create table older.holdfast_schema as select 0 as version");
        Map<String, String> user = Map.of("HOLDFAST_USER", PostgresServer.USER);

        Examined older = Examined.at(address, user, "--schema", "older");
        assertThat(older.line("schema")).isEqualTo("does not work schema: versions [0]");
        assertThat(older.code()).isOne();

        Examined missing = Examined.at(address, user, "--schema", "nowhere");
        assertThat(missing.line("schema")).startsWith("does not work").contains("does not exist");
        assertThat(missing.out()).contains("Run holdfast-1.sql");
    }

    @Test
    void replicaOfPostgresIsRefused() {
        try (PostgresServer primary = PostgresServer.run();
                PostgresServer replica = primary.replica()) {
            replica.start();
            Examined standby =
                    Examined.at(postgresAddress(replica.port()), Map.of("HOLDFAST_USER", PostgresServer.USER));

            assertThat(standby.line("writes")).isEqualTo("does not work writes: the server is read-only");
            assertThat(standby.code()).isOne();
        }
    }

    /** On machines that have a PgBouncer. */
    @Test
    void poolerInTransactionModeIsFound() {
        for (String which : PgBouncer.available()) {
            try (PgBouncer pooler = PgBouncer.run(which, postgres, "transaction")) {
                Examined behind =
                        Examined.at(postgresAddress(pooler.port()), Map.of("HOLDFAST_USER", PostgresServer.USER));

                assertThat(behind.line("one session for each connection"))
                        .isEqualTo("does not work one session for each connection: it changes between statements");
                assertThat(behind.code()).isOne();
            }
        }
    }

    @Test
    void fitMariaDbWorksAndKeepsNothing() {
        Examined fit = mariaDbAs(MariaDbServer.USER);

        assertThat(fit.code()).as(fit.out()).isZero();
        assertThat(fit.line("a lock is taken and handed over")).startsWith("works");
        assertThat(fit.line("GET_LOCK")).startsWith("works");
        assertThat(run(
                        mariaDbAddress(),
                        MariaDbServer.USER,
                        "select count(*) from holdfast_lock where name like 'doctor-%'"))
                .isEqualTo("0");
    }

    @Test
    void databaseThatIsNotThereIsNamed() {
        assertThat(Examined.at(
                                "r2dbc:postgresql://127.0.0.1:%d/nowhere".formatted(postgres.port()),
                                Map.of("HOLDFAST_USER", PostgresServer.USER, "HOLDFAST_PASSWORD", "falsch"))
                        .line("connection"))
                .startsWith("does not work")
                .contains("nowhere")
                .doesNotContain("falsch");
        Examined nowhere = Examined.at("r2dbc:mariadb://127.0.0.1:1/shop", Map.of("HOLDFAST_USER", "shop"));
        assertThat(nowhere.line("connection")).startsWith("does not work");
        assertThat(nowhere.code()).isOne();
    }
}
