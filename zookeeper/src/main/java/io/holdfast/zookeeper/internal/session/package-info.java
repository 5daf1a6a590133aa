/**
 * One session with the ensemble, and what the answers to its requests have proved: {@link
 * io.holdfast.zookeeper.internal.session.SessionValidity} computes how long a lease in it may last.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.zookeeper.internal.session;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
