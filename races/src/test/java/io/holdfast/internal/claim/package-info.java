/** Races of two threads on single classes about one claim; these classes are package-private. */
@NullMarked
package io.holdfast.internal.claim;

import org.jspecify.annotations.NullMarked;
