package io.holdfast.r2dbc.internal.mariadb;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.r2dbc.internal.dialect.KnownError;
import io.r2dbc.spi.R2dbcNonTransientResourceException;
import io.r2dbc.spi.R2dbcTransientException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MariaDbErrorsTest {

    @ParameterizedTest
    @CsvSource({
        "42000, 1305, false, true, mariadb/holdfast-1.sql",
        "42S02, 1146, false, true, mariadb/holdfast-1.sql",
        "3D000, 1046, false, true, no database is chosen",
        "42000, 1370, false, true, lacks a right",
        "28000, 1045, false, false, password is wrong",
        "HY000, 1290, true, false, connect to the primary",
        "08004, 1040, true, false, max_connections",
        "HY000, 1021, true, true, disk is full",
        "HY000, 1205, true, true, innodb_trx",
        "40001, 1213, true, true, met deadlocks",
        "70100, 1927, true, false, client reconnects",
        "08S01, 1158, true, false, client reconnects"
    })
    void codeOfTheServerIsExplained(
            String state, int code, boolean isTransient, boolean keepsConnection, String advice) {
        KnownError known = MariaDbErrors.explain(new Coded(state, code)).orElseThrow();
        assertThat(known.isTransient()).isEqualTo(isTransient);
        assertThat(known.keepsConnection()).isEqualTo(keepsConnection);
        assertThat(known.advice()).contains(advice);
    }

    @Test
    void endOfAConnectionIsExplainedEvenWithoutACode() {
        assertThat(MariaDbErrors.explain(new R2dbcNonTransientResourceException("Connection unexpectedly closed")))
                .map(KnownError::advice)
                .hasValueSatisfying(advice -> assertThat(advice).contains("client reconnects"));
    }

    @Test
    void otherCodesAreNotKnown() {
        assertThat(MariaDbErrors.explain(new Coded("HY000", 1105))).isEmpty();
    }

    private static final class Coded extends R2dbcTransientException {

        private static final long serialVersionUID = 1L;

        Coded(String state, int code) {
            super("the server's words", state, code);
        }
    }
}
