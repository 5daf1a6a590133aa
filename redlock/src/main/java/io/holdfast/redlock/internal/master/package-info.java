/**
 * Requests to the masters: one request to all of them with a time limit for each, releases in the background, and what
 * all requests share.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.redlock.internal.master;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
