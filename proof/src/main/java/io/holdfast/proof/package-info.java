/** What the commands of this module share. */
@NullMarked
@CheckReturnValue
package io.holdfast.proof;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
