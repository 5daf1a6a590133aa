/**
 * Keeps locks in etcd, over a jetcd client that you own.
 *
 * <p>Begin with {@link io.holdfast.etcd.EtcdLockBackend}. {@link io.holdfast.etcd.EtcdFence} makes a transaction of your data depend on a
 * lease.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.etcd;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
