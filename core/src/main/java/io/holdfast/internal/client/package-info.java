/**
 * The client and what it makes: locks, semaphores, multi-locks, elections. Checks the arguments of users, and joins the
 * rooms below. How long a close waits is decided here; what it ends, in the engine.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.internal.client;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
