package io.holdfast.r2dbc.internal.error;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.r2dbc.internal.postgresql.PostgresDialect;
import io.r2dbc.spi.R2dbcNonTransientResourceException;
import io.r2dbc.spi.R2dbcTransientException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SqlFailuresTest {

    private static final SqlFailures FAILURES = new SqlFailures(new PostgresDialect(), null, Duration.ofMillis(700));

    @ParameterizedTest
    @CsvSource({
        "42883, false, true, holdfast-1.sql",
        "42P01, false, true, holdfast-1.sql",
        "42501, false, true, lacks a right",
        "25006, true, false, connect to the primary",
        "0A000, true, true, hot standby",
        "28P01, false, false, password is wrong",
        "53300, true, false, max_connections",
        "53100, true, true, disk is full",
        "55P03, true, true, pg_stat_activity",
        "57014, true, true, pg_stat_activity",
        "57P01, true, false, client reconnects",
        "08006, true, false, client reconnects",
        "40P01, true, true, tries again",
        "XX000, true, false, does not know"
    })
    void codeOfTheServerIsExplained(String code, boolean isTransient, boolean keepsConnection, String advice) {
        Throwable error = new Coded(code);
        LockBackendException failure = FAILURES.of("stock/42", "acquire lock 'stock/42'", error);
        assertThat(failure.isTransient()).isEqualTo(isTransient);
        assertThat(FAILURES.keepsConnection(error)).isEqualTo(keepsConnection);
        assertThat(failure)
                .hasMessageStartingWith("acquire lock 'stock/42' in PostgreSQL failed")
                .hasMessageContaining(advice)
                .hasCause(error);
        assertThat(failure.lockName()).isEqualTo("stock/42");
    }

    /** Drivers give such an error a code of their own. */
    @Test
    void networkErrorCountsBeforeTheCodeOfTheDriver() {
        assertThat(failure(new R2dbcNonTransientResourceException("no", "08000", new ConnectException("refused"))))
                .hasMessageContaining("nothing listens there");
        assertThat(failure(new R2dbcNonTransientResourceException("no", "08000", new UnknownHostException("host"))))
                .hasMessageContaining("host name is not known");
        assertThat(failure(new TimeoutException("late"))).hasMessageContaining("failed after 700 ms");
    }

    @Test
    void messagesNameTheServer() {
        SqlFailures failures = new SqlFailures(new PostgresDialect(), "app@db1:5432/shop", Duration.ofMillis(700));
        assertThat(failures.of("a", "acquire lock 'a'", new NoAnswerException(Duration.ofSeconds(10))))
                .hasMessageStartingWith("acquire lock 'a' in PostgreSQL at app@db1:5432/shop failed after 10000 ms: ");
        assertThat(failures.closed("a", "release lock 'a'"))
                .hasMessageStartingWith("release lock 'a' in PostgreSQL at app@db1:5432/shop failed: ");
    }

    @Test
    void knownFailureStaysAsItIs() {
        LockBackendException known = FAILURES.closed("a", "release lock 'a'");
        assertThat(FAILURES.of("a", "release lock 'a'", known)).isSameAs(known);
    }

    private static LockBackendException failure(Throwable error) {
        return FAILURES.of("a", "acquire lock 'a'", error);
    }

    private static final class Coded extends R2dbcTransientException {

        private static final long serialVersionUID = 1L;

        Coded(String code) {
            super("the server's words", code);
        }
    }
}
