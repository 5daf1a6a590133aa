/** A command-line program for operators: it lists locks, looks into them and breaks holds. */
@NullMarked
@CheckReturnValue
package io.holdfast.cli;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
