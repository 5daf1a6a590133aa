/** Races of two threads on single classes about threads and time; these classes are package-private. */
@NullMarked
package io.holdfast.internal.timing;

import org.jspecify.annotations.NullMarked;
