/** Races of two threads on single classes. They are in this package because these classes are package-private. */
@NullMarked
package io.holdfast.redis.internal.connection;

import org.jspecify.annotations.NullMarked;
