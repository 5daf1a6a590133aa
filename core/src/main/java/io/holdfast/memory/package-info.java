/** The back end that keeps its locks in the memory of this JVM: for tests, and for programs of one process. */
@NullMarked
@CheckReturnValue
package io.holdfast.memory;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
