package io.holdfast.spring;

import org.jspecify.annotations.Nullable;

/** The server that Spring Data uses. */
@FunctionalInterface
interface SharedRedis {

    /** Null when the application has not said where it is. */
    @Nullable
    RedisLockConnectionDetails find();
}
