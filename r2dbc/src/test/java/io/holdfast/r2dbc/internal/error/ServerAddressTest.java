package io.holdfast.r2dbc.internal.error;

import static org.assertj.core.api.Assertions.assertThat;

import io.r2dbc.spi.ConnectionFactoryOptions;
import org.junit.jupiter.api.Test;

class ServerAddressTest {

    @Test
    void addressHasUserHostPortAndDatabaseOnly() {
        assertThat(of("r2dbc:postgresql://app:geheim@db1:5432/shop?applicationName=till"))
                .isEqualTo("app@db1:5432/shop");
        assertThat(of("r2dbc:mariadb://db1")).isEqualTo("db1");
    }

    @Test
    void optionsWithoutAHostHaveNoAddress() {
        assertThat(ServerAddress.of(ConnectionFactoryOptions.builder().build())).isNull();
    }

    @Test
    void controlCharactersAreEscaped() {
        assertThat(ServerAddress.of(ConnectionFactoryOptions.builder()
                        .option(ConnectionFactoryOptions.HOST, "db1\nERROR")
                        .build()))
                .doesNotContain("\n");
    }

    private static String of(String url) {
        return ServerAddress.of(ConnectionFactoryOptions.parse(url));
    }
}
