package io.holdfast.vertx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Backoff;
import io.holdfast.LockOptions;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JsonOptionsTest {

    @Test
    void everyOptionCanBeNamed() {
        JsonObject json = new JsonObject("""
                {"leaseDuration": "10s", "waitTimeout": "500 ms", "autoRenew": false, "maxHoldTime": "5m", "minHoldTime": "PT1S", "reentrant": false,
                 "backoff": {"first": "10ms", "max": "1h", "jitter": 0.25}}
                """);
        assertThat(VertxLocks.options(json))
                .isEqualTo(LockOptions.builder()
                        .leaseDuration(Duration.ofSeconds(10))
                        .waitTimeout(Duration.ofMillis(500))
                        .autoRenew(false)
                        .maxHoldTime(Duration.ofMinutes(5))
                        .minHoldTime(Duration.ofSeconds(1))
                        .reentrant(false)
                        .backoff(Backoff.exponential(Duration.ofMillis(10), Duration.ofHours(1))
                                .withJitter(0.25))
                        .build());
    }

    @Test
    void missingOptionsHaveTheirDefaults() {
        assertThat(VertxLocks.options(new JsonObject())).isEqualTo(LockOptions.defaults());
        assertThat(VertxLocks.options(new JsonObject("{\"backoff\": {\"fixed\": \"100ms\"}, \"waitTimeout\": null}"))
                        .backoff())
                .isEqualTo(Backoff.fixed(Duration.ofMillis(100)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\'',
            value = {
                "{\"lease\": \"10s\"}                             | options of a lock: unknown name lease; the names are autoRenew, backoff",
                "{\"leaseDuration\": 10}                          | leaseDuration must be a text with a unit",
                "{\"leaseDuration\": \"10\"}                      | leaseDuration must be a text with a unit",
                "{\"leaseDuration\": \"1ms\"}                     | leaseDuration",
                "{\"leaseDuration\": \"-PT1S\"}                   | leaseDuration",
                "{\"autoRenew\": \"yes\"}                         | autoRenew must be a Boolean, but is yes",
                "{\"backoff\": \"1s\"}                            | backoff must be a JsonObject, but is 1s",
                "{\"backoff\": {\"first\": \"1s\"}}               | backoff must have max",
                "{\"backoff\": {\"fixed\": \"1s\", \"max\": \"2s\"}} | backoff: unknown name max; the names are fixed, jitter",
                "{\"backoff\": {\"fixed\": \"1s\", \"jitter\": 2}}   | jitter",
                "{\"leaseDuration\": \"10s\", \"maxHoldTime\": \"1s\"} | maxHoldTime must be at least leaseDuration"
            })
    void invalidOptionsAreRefused(String json, String why) {
        assertThatThrownBy(() -> VertxLocks.options(new JsonObject(json)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(why);
    }
}
