/** What two threads may do to single parts at the same instant; in this package because the parts are package-private. */
@NullMarked
package io.holdfast.redis.internal.connection;

import org.jspecify.annotations.NullMarked;
