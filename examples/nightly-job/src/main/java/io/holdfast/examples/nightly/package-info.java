/** A clustered Vert.x application whose instances share a nightly job and the accounts of customers. */
@NullMarked
@CheckReturnValue
package io.holdfast.examples.nightly;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
