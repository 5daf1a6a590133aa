package io.holdfast.examples.quickstart;

import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

class QuickStartIT {

    @Test
    void theTenLinesAcquireWorkAndRelease() {
        try (RedisServer redis = RedisServer.start()) {
            RedisURI uri = RedisURI.create(redis.uri());
            Stock stock = (item, fencingToken) -> fencingToken > 0 ? Mono.just(item - 1) : Mono.empty();

            // The second one would have to wait for a lease, were the first one not released.
            StepVerifier.create(QuickStart.sellOne(uri, stock).then(QuickStart.sellOne(uri, stock)))
                    .expectNext(41)
                    .expectComplete()
                    .verify(Duration.ofSeconds(20));
        }
    }
}
