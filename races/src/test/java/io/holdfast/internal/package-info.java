/** Races of two threads on single classes. They are in this package because these classes are package-private. */
@NullMarked
package io.holdfast.internal;

import org.jspecify.annotations.NullMarked;
