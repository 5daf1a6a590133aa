/**
 * Several locks that are taken together. A multi-lock consists of ordinary acquisitions of its members, in one canonical
 * order. It releases what it has when it gives up.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.internal.multi;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
