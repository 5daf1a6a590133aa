/** From the files of a run to a table and charts. Pure, but for reading and writing files. */
@NullMarked
@CheckReturnValue
package io.holdfast.benchmarks.report;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
