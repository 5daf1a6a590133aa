package io.holdfast.redis.internal.protocol;

import com.google.errorprone.annotations.Immutable;
import io.holdfast.redis.internal.script.LuaScript;
import java.time.Duration;

/**
 * The scripts of the clients of one setting.
 *
 * @param lock all operations but renewals
 * @param renew renews claims of all kinds
 */
@Immutable
record LockScripts(LuaScript lock, LuaScript renew) {

    private static final LockScripts USUAL = read(LuaScript.USUAL_TOKEN_TIME);

    /**
     * Returns the scripts that keep the last token of a free lock for that time. Reads files when a back end is made: otherwise
     * the first use of a script would read them, possibly on an event loop.
     */
    static LockScripts keeping(Duration tokens) {
        return tokens.equals(LuaScript.USUAL_TOKEN_TIME) ? USUAL : read(tokens);
    }

    private static LockScripts read(Duration tokens) {
        return new LockScripts(LuaScript.load("lock", tokens), LuaScript.load("renew", tokens));
    }
}
