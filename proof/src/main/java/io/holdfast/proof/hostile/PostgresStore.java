package io.holdfast.proof.hostile;

import io.holdfast.r2dbc.R2dbcLockBackend;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import reactor.core.publisher.Flux;

/** Runs statements in PostgreSQL, each over a connection of its own. Its methods block. */
public final class PostgresStore {

    private static final String SCHEMA = "postgresql/holdfast-1.sql";

    private PostgresStore() {}

    /** Runs statements. Returns the first column of each row, if there are rows. */
    public static List<String> texts(ConnectionFactory connections, String sql, Duration within) {
        List<String> texts = Flux.usingWhen(
                        connections.create(),
                        open -> Flux.from(open.createStatement(sql).execute())
                                .concatMap(result -> result.map(row -> String.valueOf(row.get(0)))),
                        Connection::close)
                .collectList()
                .block(within);
        return texts == null ? List.of() : texts;
    }

    /** Reads the schema file that users run. */
    public static String schema() {
        try (InputStream file = R2dbcLockBackend.class.getResourceAsStream(SCHEMA)) {
            if (file == null) {
                throw new IllegalStateException("no file " + SCHEMA);
            }
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("the schema cannot be read", e);
        }
    }
}
