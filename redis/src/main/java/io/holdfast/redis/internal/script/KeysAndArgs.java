package io.holdfast.redis.internal.script;

import io.lettuce.core.RedisURI;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The number of KEYS of a script, the KEYS, and its ARGV. */
@FunctionalInterface
public interface KeysAndArgs {

    /** Appends them for the server that they are sent to. Called when the command is written. */
    void write(ScriptArgs to, RedisURI server);

    /**
     * Returns the same with the first key only, for a slot that is moving to another master: the server runs no script
     * that has keys at both. Null if the script needs more keys.
     */
    default @Nullable KeysAndArgs ofFirstKey() {
        return null;
    }

    /** Makes them the same for every server. */
    static KeysAndArgs of(List<String> keys, List<String> args) {
        return (to, server) -> {
            to.number(keys.size());
            keys.forEach(to::text);
            args.forEach(to::text);
        };
    }
}
