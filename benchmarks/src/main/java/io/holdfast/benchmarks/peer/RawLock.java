package io.holdfast.benchmarks.peer;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;

/** {@code SET NX PX} and compare-and-delete, as the documentation of Redis has them, at one server. */
final class RawLock {

    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final String COMPARE_AND_DELETE =
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

    private final RedisAsyncCommands<String, String> redis;
    private final String script;

    RawLock(StatefulRedisConnection<String, String> connection) {
        redis = connection.async();
        script = connection.sync().scriptLoad(COMPARE_AND_DELETE);
    }

    static String newValue() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return Long.toHexString(random.nextLong()) + Long.toHexString(random.nextLong());
    }

    CompletionStage<Boolean> take(String lock, String value) {
        return redis.set("raw:" + lock, value, SetArgs.Builder.nx().px(LEASE)).thenApply("OK"::equals);
    }

    CompletionStage<Boolean> giveBack(String lock, String value) {
        String[] keys = {"raw:" + lock};
        return redis.<Long>evalsha(script, ScriptOutputType.INTEGER, keys, value)
                .thenApply(count -> count == 1);
    }
}
