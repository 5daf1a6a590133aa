package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.r2dbc.R2dbcLockBackend;
import io.holdfast.testkit.server.PostgresServer;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.r2dbc.autoconfigure.R2dbcAutoConfiguration;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import reactor.core.publisher.Flux;

/** Locks in the PostgreSQL of the application, through the ConnectionFactory of Spring Boot. */
class R2dbcBackendIT {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static PostgresServer server;

    private final ReactiveWebApplicationContextRunner runner = new ReactiveWebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    HoldfastAutoConfiguration.class,
                    HoldfastHealthAutoConfiguration.class,
                    R2dbcAutoConfiguration.class))
            .withPropertyValues(
                    "holdfast.backend=r2dbc",
                    "holdfast.r2dbc.schema=locks",
                    "spring.r2dbc.url=" + url(""),
                    "spring.r2dbc.username=" + PostgresServer.USER);

    @BeforeAll
    static void start() throws IOException {
        server = PostgresServer.run("fsync=off", "full_page_writes=off");
        try (InputStream file = R2dbcLockBackend.class.getResourceAsStream("postgresql/holdfast-1.sql")) {
            String schema = new String(file.readAllBytes(), StandardCharsets.UTF_8);
            var unused = texts("create schema locks; set search_path to locks; " + schema);
        }
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static String url(String pool) {
        return "r2dbc:%spostgresql://%s:%d/%s".formatted(pool, server.host(), server.port(), PostgresServer.DATABASE);
    }

    /** Returns the first column of each row, read on a connection of its own. */
    private static List<String> texts(String sql) {
        ConnectionFactory factory = ConnectionFactories.get(url("").replace("//", "//" + PostgresServer.USER + "@"));
        return Flux.usingWhen(
                        factory.create(),
                        open -> Flux.from(open.createStatement(sql).execute())
                                .concatMap(result -> result.map(row -> String.valueOf(row.get(0)))),
                        Connection::close)
                .collectList()
                .block(PATIENCE);
    }

    /** The application uses the only connection of its pool. A lock that needed it would never be granted. */
    @ParameterizedTest
    @CsvSource({
        "'', spring.r2dbc.pool.initial-size=1; spring.r2dbc.pool.max-size=1",
        "pool:, spring.r2dbc.properties.maxSize=1"
    })
    void aPoolOfSpringBootLendsNoConnections(String pool, String properties) {
        runner.withPropertyValues("spring.r2dbc.url=" + url(pool))
                .withPropertyValues(properties.split("; ", -1))
                .run(context -> {
                    ConnectionFactory factory = context.getBean(ConnectionFactory.class);
                    Connection only = Flux.from(factory.create()).blockFirst(PATIENCE);
                    LockClient locks = context.getBean(LockClient.class);

                    LockLease held = locks.lock("stock/42").acquire().block(PATIENCE);
                    var waiting = locks.lock("stock/42").acquire().toFuture();
                    assertThat(texts("select name from locks.holdfast_lock where holder is not null"))
                            .containsExactly("stock/42");
                    held.release().block(PATIENCE);
                    waiting.join().release().block(PATIENCE);

                    assertThat(texts("select 1 from pg_stat_activity where application_name = 'holdfast'"))
                            .hasSizeBetween(1, 3);
                    Flux.from(only.close()).blockLast(PATIENCE);
                });
        long limit = System.nanoTime() + PATIENCE.toNanos(); // the server ends a session when it has read its farewell
        while (!texts("select 1 from pg_stat_activity where application_name = 'holdfast'")
                .isEmpty()) {
            assertThat(System.nanoTime()).as("connections after the end").isLessThan(limit);
        }
    }

    @Test
    void theFactoryComesFromSpringBootAndIsAPool() {
        runner.run(
                context -> assertThat(context).getBean(ConnectionFactory.class).isInstanceOf(ConnectionPool.class));
    }

    @Test
    void healthIsUpWhileTheDatabaseAnswers() {
        runner.run(context -> assertThat(health(context.getBean(ReactiveHealthIndicator.class)))
                .extracting(Health::getStatus)
                .isEqualTo(Status.UP));
    }

    @Test
    void aMissingSchemaErrorNamesTheFileToRun() {
        runner.withPropertyValues("holdfast.r2dbc.schema=public").run(context -> {
            assertThat(context).hasNotFailed();
            LockClient locks = context.getBean(LockClient.class);
            assertThatThrownBy(() -> locks.lock("stock/42").acquire().block(PATIENCE))
                    .isInstanceOf(LockBackendException.class)
                    .hasMessageContaining("in PostgreSQL at %s@%s:%d/%s failed"
                            .formatted(PostgresServer.USER, server.host(), server.port(), PostgresServer.DATABASE))
                    .hasMessageContaining("run io/holdfast/r2dbc/postgresql/holdfast-1.sql");

            Health health = health(context.getBean(ReactiveHealthIndicator.class));
            assertThat(health.getStatus()).isEqualTo(Status.DOWN);
            assertThat(health.getDetails()).asString().contains("holdfast-1.sql");
        });
    }

    private static Health health(ReactiveHealthIndicator indicator) {
        return indicator.health().block(PATIENCE);
    }
}
