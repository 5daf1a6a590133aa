/** Races of two threads on single classes about threads and time; these classes are package-private. */
@NullMarked
package io.holdfast.internal.run;

import org.jspecify.annotations.NullMarked;
