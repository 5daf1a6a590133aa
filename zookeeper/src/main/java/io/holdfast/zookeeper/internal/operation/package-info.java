/**
 * The operations of one back end, put together from the other packages: acquire, renew, release, watch, ping and close. The operations of
 * one claim run one after another.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.zookeeper.internal.operation;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
