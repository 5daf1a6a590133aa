package io.holdfast.redis.internal.script;

import io.lettuce.core.RedisURI;
import java.util.List;

/** How many KEYS a script gets, those, and its ARGV. */
@FunctionalInterface
public interface KeysAndArgs {

    /** Appends them, as they are for the server that they are sent to. Called when the command is written. */
    void write(ScriptArgs to, RedisURI server);

    /** The same for every server. */
    static KeysAndArgs of(List<String> keys, List<String> args) {
        return (to, server) -> {
            to.number(keys.size());
            keys.forEach(to::text);
            args.forEach(to::text);
        };
    }
}
