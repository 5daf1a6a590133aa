/** What JMH cannot measure: latencies of hand-offs, commands as the server saw them, and many held leases. */
@NullMarked
@CheckReturnValue
package io.holdfast.benchmarks.watch;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
