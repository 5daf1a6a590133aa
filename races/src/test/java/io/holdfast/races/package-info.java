/** Races of two threads on one lock, through the public API: one class for each race. */
@NullMarked
package io.holdfast.races;

import org.jspecify.annotations.NullMarked;
