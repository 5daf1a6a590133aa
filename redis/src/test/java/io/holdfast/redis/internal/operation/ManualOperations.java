package io.holdfast.redis.internal.operation;

import io.holdfast.redis.internal.connection.ManualDriver;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;

/** The operations of a back end without a server: a test answers the requests itself. */
final class ManualOperations {

    private ManualOperations() {}

    static LockOperations over(ManualDriver driver, boolean lossByPush) {
        return new LockOperations(
                new BackendSettings(
                        List.of(RedisURI.create("redis://localhost")),
                        false,
                        "holdfast:",
                        Duration.ofSeconds(2),
                        Duration.ofHours(2),
                        0,
                        Duration.ZERO,
                        null,
                        lossByPush),
                driver,
                "me");
    }
}
