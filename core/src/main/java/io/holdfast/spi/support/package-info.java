/**
 * Tools for back ends: what most of them need and none has to use. Nothing here decides who holds a lock.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.spi.support;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
