/** What Vert.x needs to be given the signals of locks where it wants them. */
@NullMarked
@CheckReturnValue
package io.holdfast.vertx;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
