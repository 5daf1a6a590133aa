/** The signals of one claim from all masters, combined. */
@NullMarked
@CheckReturnValue
package io.holdfast.redlock.internal.watch;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
