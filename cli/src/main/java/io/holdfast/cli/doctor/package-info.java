/** Checks of what Holdfast needs of a server: a room for each back end, and what they share. */
@NullMarked
@CheckReturnValue
package io.holdfast.cli.doctor;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
