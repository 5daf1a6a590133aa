package io.holdfast.proof.hostile;

import io.holdfast.LockLease;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.List;
import reactor.core.publisher.Mono;

/** Registers in a Redis without faults. Fencing tokens guard them: a reader stores its token, and a write is refused if a higher one was stored meanwhile. */
final class RedisRegister implements Register {

    /** Stores the token. Returns the number, or -1 if a higher token is stored. */
    private static final String READ = """
            local seen = tonumber(redis.call('HGET', KEYS[1], 'token') or '0')
            if tonumber(ARGV[1]) < seen then
              redis.call('HINCRBY', KEYS[1], 'refused', 1)
              return -1
            end
            redis.call('HSET', KEYS[1], 'token', ARGV[1])
            return tonumber(redis.call('HGET', KEYS[1], 'number') or '0')
            """;

    /** Writes and logs the number if the token is still stored. */
    private static final String WRITE = """
            if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then
              redis.call('HINCRBY', KEYS[1], 'refused', 1)
              return 0
            end
            redis.call('HSET', KEYS[1], 'number', ARGV[2])
            redis.call('RPUSH', KEYS[2], ARGV[1] .. ' ' .. ARGV[2] .. ' ' .. ARGV[3])
            return 1
            """;

    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;

    RedisRegister(String uri) {
        client = RedisClient.create(RedisURI.create(uri));
        connection = client.connect();
    }

    private static String key(Resource resource) {
        return "register:" + resource.key().kind() + ":" + resource.key().name();
    }

    private static String logKey(Resource resource) {
        return key(resource) + ":log";
    }

    @Override
    public Mono<Void> increment(Resource resource, LockLease held, String writer, Mono<Void> pause) {
        String own = Long.toString(held.fencingToken());
        return eval(READ, List.of(key(resource)), own)
                .delayUntil(read -> pause)
                .filter(read -> read >= 0)
                .flatMap(read ->
                        eval(WRITE, List.of(key(resource), logKey(resource)), own, Long.toString(read + 1), writer))
                .then();
    }

    private Mono<Long> eval(String script, List<String> keys, String... values) {
        return connection
                .reactive()
                .<Long>eval(script, ScriptOutputType.INTEGER, keys.toArray(String[]::new), values)
                .next();
    }

    @Override
    public List<Write> writes(Resource resource) {
        return connection.sync().lrange(logKey(resource), 0, -1).stream()
                .map(Write::parse)
                .toList();
    }

    @Override
    public long refused(Resource resource) {
        String refused = connection.sync().hget(key(resource), "refused");
        return refused == null ? 0 : Long.parseLong(refused);
    }

    @Override
    public void close() {
        client.shutdown();
    }
}
