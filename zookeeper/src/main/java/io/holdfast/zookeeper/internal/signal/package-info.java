/** Emits signals to the subscribers that watch a claim: changed, granted, lost. */
@NullMarked
@CheckReturnValue
package io.holdfast.zookeeper.internal.signal;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
