/** An order service on Spring WebFlux, whose stock is never oversold. */
@NullMarked
@CheckReturnValue
package io.holdfast.examples.orders;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
