package io.holdfast.redis.internal.protocol;

import io.holdfast.redis.internal.script.LuaScript;
import io.holdfast.spi.LockClaim;

/**
 * The scripts of one sort of lock. A mutex has leaner scripts than the locks that several claims may hold, and one
 * script to acquire and to release.
 */
public enum LockScripts {
    MUTEX("mutex", "mutex", "mutex_renew"),
    SHARED("shared_acquire", "shared_release", "shared_renew");

    private final LuaScript acquire;
    private final LuaScript release;
    private final LuaScript renew;

    /** Reads files: see {@link #readAll}. */
    LockScripts(String acquire, String release, String renew) {
        this.acquire = LuaScript.load(acquire);
        this.release = acquire.equals(release) ? this.acquire : LuaScript.load(release);
        this.renew = LuaScript.load(renew);
    }

    /**
     * Reads the files when a back end is made: the first call initialises this enum. Otherwise the first use of a
     * script would read them, possibly on an event loop.
     */
    static void readAll() {}

    static LockScripts of(LockKeys.Type type) {
        return type == LockKeys.Type.MUTEX ? MUTEX : SHARED;
    }

    public static LockScripts of(LockClaim claim) {
        return of(LockKeys.Type.of(claim.key().kind()));
    }

    LuaScript acquire() {
        return acquire;
    }

    LuaScript release() {
        return release;
    }

    LuaScript renew() {
        return renew;
    }
}
