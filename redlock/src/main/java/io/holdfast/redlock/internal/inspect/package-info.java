/** Reports on locks for operators, from the answers of all masters. */
@NullMarked
@CheckReturnValue
package io.holdfast.redlock.internal.inspect;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
