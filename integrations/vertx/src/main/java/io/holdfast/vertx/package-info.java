/** Locks for code on Vert.x: results are its futures, on its contexts. */
@NullMarked
@CheckReturnValue
package io.holdfast.vertx;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
