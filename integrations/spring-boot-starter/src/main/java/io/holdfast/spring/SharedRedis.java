package io.holdfast.spring;

import org.jspecify.annotations.Nullable;

/** The server that Spring Data uses. */
@FunctionalInterface
interface SharedRedis {

    /** Returns null if the application has not configured its address. */
    @Nullable
    RedisLockConnectionDetails find();
}
