package io.holdfast.benchmarks.peer;

import io.lettuce.core.RedisClient;
import io.lettuce.core.resource.ClientResources;
import java.util.concurrent.TimeUnit;

/** Ends what belongs to Lettuce, without the quiet period that it grants by default. */
final class LettuceEnd {

    private static final long LIMIT_SECONDS = 5;

    private LettuceEnd() {}

    static void shutDown(RedisClient client) {
        client.shutdown(0, LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    static void shutDown(ClientResources resources) {
        var unused = resources
                .shutdown(0, LIMIT_SECONDS, TimeUnit.SECONDS)
                .awaitUninterruptibly(TimeUnit.SECONDS.toMillis(LIMIT_SECONDS));
    }
}
