/** Races of two threads on single classes about the engine; these classes are package-private. */
@NullMarked
package io.holdfast.internal.engine;

import org.jspecify.annotations.NullMarked;
