package io.holdfast.redis.internal.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.redis.RedisAddress;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslVerifyMode;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The driver ignores a parameter that it does not know, and a value that it cannot read. This library refuses the
 * address instead.
 */
class AddressQueryTest {

    @ParameterizedTest
    @CsvSource({
        "redis://localhost:6379?timeot=2s, timeot",
        "rediss://user:pw@localhost/1?clientName=till-7&timeOutMs=7070, timeOutMs",
        "redis-sentinel://one?clientname=a;masterId=7070#mymaster, masterId",
        "redis-socket:///tmp/redis.sock?db=1&password=7070, password",
        "redis://localhost?DB=7070, DB"
    })
    void aParameterThatDoesNotExistIsNamedWithoutItsValue(String text, String name) {
        assertThatThrownBy(() -> RedisAddress.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'" + name + "'")
                .hasMessageContaining(
                        "timeout, database, db, clientName, libraryName, libraryVersion, verifyPeer, sentinelMasterId")
                .hasMessageNotContaining("7070")
                .hasMessageNotContaining("2s");
    }

    /** The text may be a part of a password in which a {@code ?} was not encoded. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis://me:12?SeCr3t=x",
                "redis://me:12?SeCrt%40localhost=x",
                "redis://me:12?secret",
                "redis://localhost?timeout=1s&secret",
                "redis://localhost?averylongsecretthatisnoname=1"
            })
    void aTextThatMayNotBeAParameterNameIsNotRepeated(String text) {
        assertThatThrownBy(() -> RedisAddress.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasNoCause()
                .hasMessageContaining("timeout, database, db")
                .message()
                .doesNotContainIgnoringCase("secr");
    }

    @ParameterizedTest
    @CsvSource({
        "timeout=2sec, timeout",
        "timeout=soon, timeout",
        "timeout, timeout",
        "Timeout=, timeout",
        "db=two, db",
        "database=1x, database",
        "verifyPeer=maybe, verifyPeer",
        "clientName=, clientName"
    })
    void aValueThatTheDriverWouldIgnoreOrMisreadIsRefused(String query, String name) {
        assertThatThrownBy(() -> RedisAddress.parse("redis://localhost?" + query))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("parameter '" + name + "'")
                .hasMessageNotContaining("sec")
                .hasMessageNotContaining("soon")
                .hasMessageNotContaining("maybe");
    }

    @Test
    void eachParameterThatTheDriverKnowsIsRead() {
        RedisURI read =
                RedisAddress.parse("rediss://localhost?TIMEOUT=1500MS&database=3&clientName=till%207&libraryName=shop"
                        + "&libraryVersion=1.0&verifyPeer=ca;sentinelMasterId=mymaster");
        assertThat(read.getTimeout()).isEqualTo(Duration.ofMillis(1500));
        assertThat(read.getDatabase()).isEqualTo(3);
        assertThat(read.getClientName()).isEqualTo("till 7");
        assertThat(read.getLibraryName()).isEqualTo("shop");
        assertThat(read.getLibraryVersion()).isEqualTo("1.0");
        assertThat(read.getVerifyMode()).isEqualTo(SslVerifyMode.CA);
        assertThat(read.getSentinelMasterId()).isEqualTo("mymaster");
        assertThat(RedisAddress.parse("redis://localhost?db=2&timeout=-1").getDatabase())
                .isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "250", "9ns", "9us", "9ms", "9s", "9m", "9h", "9d", "-1"})
    void aTimeLimitIsReadAsTheDriverReadsIt(String limit) {
        String text = "redis://localhost?timeout=" + limit;
        assertThat(RedisAddress.parse(text).getTimeout())
                .isEqualTo(RedisURI.create(text).getTimeout());
    }

    /** A newer driver's parameter must not be refused by mistake. */
    @Test
    void theDriverKnowsNoOthers() {
        assertThat(RedisURI.class.getFields())
                .filteredOn(field -> field.getName().startsWith("PARAMETER_NAME_"))
                .extracting(field -> field.get(null))
                .containsExactlyInAnyOrderElementsOf(AddressQuery.names());
    }
}
