/** Measurements that JMH cannot make: latencies of hand-offs, commands as the server sees them, and many held leases. */
@NullMarked
@CheckReturnValue
package io.holdfast.benchmarks.watch;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
