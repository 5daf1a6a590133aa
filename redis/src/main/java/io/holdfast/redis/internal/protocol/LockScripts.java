package io.holdfast.redis.internal.protocol;

import com.google.errorprone.annotations.Immutable;
import io.holdfast.redis.internal.script.LuaScript;
import io.holdfast.spi.LockClaim;
import java.time.Duration;

/**
 * The scripts of one sort of lock. A mutex has leaner scripts than the locks that several claims may hold, and one
 * script to acquire and to release.
 */
public enum LockScripts {
    MUTEX("mutex", "mutex", "mutex_renew"),
    SHARED("shared_acquire", "shared_release", "shared_renew");

    /** The texts of these scripts for the clients of one setting. */
    @Immutable
    record Texts(LuaScript acquire, LuaScript release, LuaScript renew) {}

    private final String acquire;
    private final String release;
    private final String renew;
    private final Texts usual;

    /** Reads files: see {@link #keeping}. */
    LockScripts(String acquire, String release, String renew) {
        this.acquire = acquire;
        this.release = release;
        this.renew = renew;
        usual = read(LuaScript.USUAL_TOKEN_TIME);
    }

    /**
     * Returns the texts that keep the last token of a free lock for that time. Reads files when a back end is made: otherwise
     * the first use of a script would read them, possibly on an event loop.
     */
    Texts keeping(Duration tokens) {
        return tokens.equals(LuaScript.USUAL_TOKEN_TIME) ? usual : read(tokens);
    }

    private Texts read(Duration tokens) {
        LuaScript first = LuaScript.load(acquire, tokens);
        return new Texts(
                first,
                acquire.equals(release) ? first : LuaScript.load(release, tokens),
                LuaScript.load(renew, tokens));
    }

    static LockScripts of(LockKeys.Type type) {
        return type == LockKeys.Type.MUTEX ? MUTEX : SHARED;
    }

    public static LockScripts of(LockClaim claim) {
        return of(LockKeys.Type.of(claim.key().kind()));
    }
}
