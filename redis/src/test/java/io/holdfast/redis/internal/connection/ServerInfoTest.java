package io.holdfast.redis.internal.connection;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ServerInfoTest {

    @Test
    void fieldsAreReadAmongOthers() {
        ServerInfo info = ServerInfo.parse(
                "# Server\r\nredis_version:7.0.15\r\nuptime_in_seconds:17\r\n\r\n# Memory\r\nmaxmemory_policy:allkeys-lru\r\n");
        assertThat(info.version()).isEqualTo("7.0.15");
        assertThat(info.uptimeSeconds()).hasValue(17);
        assertThat(info.evictionPolicy()).isEqualTo("allkeys-lru");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ":",
                "uptime_in_seconds",
                "uptime_in_seconds:",
                "uptime_in_seconds:-",
                "uptime_in_seconds:soon"
            })
    void missingFieldsAreNotKnown(String text) {
        ServerInfo info = ServerInfo.parse(text);
        assertThat(info.uptimeSeconds()).isEmpty();
        assertThat(info.evictionPolicy()).isNull();
        assertThat(info.mayEvict()).isFalse();
    }

    /** The clock of the server was set back. Without an uptime there is no quarantine. */
    @Test
    void uptimeBelowZeroIsThatOfAServerThatHasJustStarted() {
        assertThat(ServerInfo.parse("uptime_in_seconds:-7195").uptimeSeconds()).hasValue(0);
    }

    @ParameterizedTest
    @CsvSource({"noeviction,false", "allkeys-lru,true", "volatile-ttl,true", "allkeys-random,true"})
    void everyPolicyButNoevictionMayEvict(String policy, boolean may) {
        assertThat(ServerInfo.parse("maxmemory_policy:" + policy).mayEvict()).isEqualTo(may);
    }
}
