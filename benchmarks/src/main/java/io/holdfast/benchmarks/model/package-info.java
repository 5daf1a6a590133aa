/** Ten thousand clients at one Redis, simulated: what each command costs the server is measured, how the commands meet at the server is computed. */
@NullMarked
package io.holdfast.benchmarks.model;

import org.jspecify.annotations.NullMarked;
